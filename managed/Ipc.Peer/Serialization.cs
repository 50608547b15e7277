using System.Text;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>Passes every text of an encoded request and reply in place; the sum of their lengths.</summary>
internal delegate long TextsInPlace(ReadOnlySpan<byte> request, ReadOnlySpan<byte> reply);

/// <summary>An operation of scenario `serialize`: a request and its reply built, translated, encoded, decoded, translated back and
/// traversed, each step timed apart and what comes out compared with what went in.</summary>
internal abstract class Serialization : Operation
{
    public StepTimes Times { get; } = new();

    /// <summary>Empties the caches before each step; null leaves them as they are.</summary>
    public CacheSweep? Sweep { get; set; }

    /// <summary>Whether the codec's bytes can be read in place.</summary>
    public bool Views => View is not null;

    /// <summary>Null where the codec has no such way.</summary>
    public TextsInPlace? View { get; init; }

    /// <summary>Encoded bytes of the last operation.</summary>
    public abstract int RequestBytes { get; }

    /// <summary>Encoded bytes of the last operation.</summary>
    public abstract int ReplyBytes { get; }
}

/// <typeparam name="TCodec">Encodes what goes on the wire.</typeparam>
/// <typeparam name="TAccess">Builds and reads the program's objects.</typeparam>
/// <typeparam name="TTranslation">Between the two.</typeparam>
/// <typeparam name="TRequest">The program's object.</typeparam>
/// <typeparam name="TReply">The program's object.</typeparam>
/// <typeparam name="TRequestOnWire">The object encoded.</typeparam>
/// <typeparam name="TReplyOnWire">The object encoded.</typeparam>
internal sealed class Serialization<TCodec, TAccess, TTranslation, TRequest, TReply, TRequestOnWire, TReplyOnWire>(Cell cell) : Serialization
    where TCodec : struct, ICodec<TRequestOnWire, TReplyOnWire>
    where TAccess : struct, IObjectAccess<TRequest, TReply>
    where TTranslation : struct, ITranslation<TRequest, TReply, TRequestOnWire, TReplyOnWire>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
    where TRequestOnWire : class, ISequenced
    where TReplyOnWire : class, ISequenced
{
    private static readonly bool s_translates = typeof(TRequest) != typeof(TRequestOnWire);

    private readonly Request _domainRequest = PayloadData.Request(cell.Seed, cell.Workload.N);
    private readonly Reply _domainReply = PayloadData.Reply(cell.Seed, cell.Workload.N);
    private readonly MessageBuffer _requestBytes = new();
    private readonly MessageBuffer _replyBytes = new();
    private readonly MessageBuffer _copy = new();
    private ulong _sequence;

    public override int RequestBytes => _requestBytes.Written.Length;
    public override int ReplyBytes => _replyBytes.Written.Length;

    public override Timing Once()
    {
        _domainRequest.Sequence = _domainReply.Sequence = ++_sequence;

        var begin = Begin();
        var request = default(TAccess).BuildRequest(_domainRequest);
        var reply = default(TAccess).BuildReply(_domainReply);
        End(Step.Build, begin);

        var (requestOnWire, replyOnWire) = Translate(request, reply);

        begin = Begin();
        _requestBytes.Clear();
        default(TCodec).EncodeRequest(requestOnWire, _requestBytes);
        _replyBytes.Clear();
        default(TCodec).EncodeReply(replyOnWire, _replyBytes);
        End(Step.Encode, begin);

        begin = Begin();
        requestOnWire = default(TCodec).DecodeRequest(_requestBytes.Written);
        replyOnWire = default(TCodec).DecodeReply(_replyBytes.Written);
        End(Step.Decode, begin);

        (request, reply) = TranslateBack(requestOnWire, replyOnWire);

        begin = Begin();
        var sum = default(TAccess).TraverseRequest(request) + default(TAccess).TraverseReply(reply);
        End(Step.Traverse, begin);

        Check(request, reply, sum);
        ViewTexts();
        CopyBytes();
        return new Timing(Clock.Now, Times.Finish(), RequestBytes + ReplyBytes);
    }

    private (TRequestOnWire Request, TReplyOnWire Reply) Translate(TRequest request, TReply reply)
    {
        // Not even the clock is read where there is nothing to translate: the step takes no time.
        var begin = s_translates ? Begin() : 0;
        var translated = (default(TTranslation).TranslateRequest(request), default(TTranslation).TranslateReply(reply));
        if (s_translates)
            End(Step.Translate, begin);
        return translated;
    }

    private (TRequest Request, TReply Reply) TranslateBack(TRequestOnWire request, TReplyOnWire reply)
    {
        var begin = s_translates ? Begin() : 0;
        var translated = (default(TTranslation).TranslateBackRequest(request), default(TTranslation).TranslateBackReply(reply));
        if (s_translates)
            End(Step.Translate, begin);
        return translated;
    }

    private void ViewTexts()
    {
        if (View is null)
            return;
        var begin = Begin();
        var lengths = View(_requestBytes.Written, _replyBytes.Written);
        End(Step.View, begin);
        if (lengths != LengthOf(_domainRequest.Name) + LengthsOf(_domainRequest.Ids) + LengthsOf(_domainRequest.Fields) + LengthsOf(_domainReply.Cells))
            throw Failure.WrongContent($"the views of {typeof(TCodec).Name} do not show all texts: that is a fault of the codec, please report it");
    }

    private static long LengthsOf(string[] texts) => texts.Sum(LengthOf);

    private static long LengthOf(string text) => Encoding.UTF8.GetByteCount(text);

    private void CopyBytes()
    {
        // Room is asked for first: what is measured is the moving.
        _copy.Clear();
        var room = _copy.GetSpan(RequestBytes + ReplyBytes);
        var begin = Begin();
        _requestBytes.Written.CopyTo(room);
        _replyBytes.Written.CopyTo(room[RequestBytes..]);
        End(Step.Copy, begin);
    }

    private long Begin()
    {
        Sweep?.Run();
        return Clock.Now;
    }

    private void End(Step step, long begin) => Times.Add(step, Clock.Now - begin);

    private void Check(TRequest request, TReply reply, ulong sum)
    {
        if (request.Sequence == _sequence && reply.Sequence == _sequence
            && default(TAccess).SameRequest(request, _domainRequest) && default(TAccess).SameReply(reply, _domainReply)
            && sum == default(DomainAccess<string[], ArrayStrings>).TraverseRequest(_domainRequest)
                + default(DomainAccess<string[], ArrayStrings>).TraverseReply(_domainReply))
        {
            return;
        }
        throw Failure.WrongContent(
            $"an object is not the same after encoding and decoding with {typeof(TCodec).Name}: that is a fault of the codec, please report it");
    }
}
