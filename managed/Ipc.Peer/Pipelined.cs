using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>What one call of scenario `pipelined` says and is answered.</summary>
internal interface ICallForm
{
    /// <summary>Room for a reply, and for one a little too long.</summary>
    byte[] RoomForReply();

    /// <summary>The next request is that of this exchange.</summary>
    void Prepare(ulong sequence);

    /// <summary>The request as it is sent.</summary>
    ReadOnlySpan<byte> Encode();

    /// <summary>Reads a reply.</summary>
    void Decode(Span<byte> reply);

    /// <summary>That the reply read last is the one due, and leaves nothing of its bytes that could pass for the next.</summary>
    void Check(ulong sequence, Span<byte> reply);
}

/// <summary>Codec `raw`.</summary>
internal readonly struct RawForm(RawPayloads payloads) : ICallForm
{
    // So that a reply a little too long is told apart rather than cut.
    private const int RoomForTooMuch = 64;

    public byte[] RoomForReply() => new byte[payloads.Reply.Length + RoomForTooMuch];

    public void Prepare(ulong sequence) => PayloadData.Stamp(payloads.Request, sequence);

    public ReadOnlySpan<byte> Encode() => payloads.Request;

    public void Decode(Span<byte> reply)
    {
    }

    public void Check(ulong sequence, Span<byte> reply)
    {
        PayloadData.Stamp(payloads.Reply, sequence);
        Content.Check("reply", reply, payloads.Reply);
        Content.Spoil(reply);
    }
}

/// <summary>A codec of objects.</summary>
internal struct ObjectForm<TCodec, TRequest, TReply>(Dialogue<TRequest, TReply> dialogue) : ICallForm
    where TCodec : struct, ICodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    private readonly MessageBuffer _request = new();
    private TReply? _reply;

    public readonly byte[] RoomForReply()
    {
        var longest = new MessageBuffer();
        // A codec may write small numbers shorter than large ones.
        dialogue.Reply!.Sequence = ulong.MaxValue;
        default(TCodec).EncodeReply(dialogue.Reply, longest);
        return ObjectRoom.For(longest);
    }

    public readonly void Prepare(ulong sequence) => dialogue.Request.Sequence = sequence;

    public readonly ReadOnlySpan<byte> Encode()
    {
        _request.Clear();
        default(TCodec).EncodeRequest(dialogue.Request, _request);
        return _request.Written;
    }

    public void Decode(Span<byte> reply) => _reply = default(TCodec).DecodeReply(reply);

    public readonly void Check(ulong sequence, Span<byte> reply)
    {
        if (_reply!.Sequence != sequence)
            throw Failure.WrongSequence("reply", _reply.Sequence, sequence);
        if (!dialogue.IsRightReply(_reply))
        {
            throw Failure.WrongContent(
                $"reply {sequence} does not hold what the server should have sent: compare the seeds and the codecs of both sides");
        }
        Content.Spoil(reply);
    }
}

/// <summary>As call, with so many calls in flight on one channel. Each is timed from before its request is encoded and submitted until its reply is there
/// and decoded. A reply is checked against the call that its tag names, so that a server may answer in any order.</summary>
internal sealed class PipelinedCall<TForm> : Operation
    where TForm : struct, ICallForm
{
    private readonly IpcChannel _channel;
    private TForm _form; // not read-only: a struct that keeps something
    private readonly byte[] _received;
    private readonly (ulong Sequence, long Begin, int RequestBytes)[] _calls; // by their tags
    private readonly int[] _free;
    private int _freeCount;
    private ulong _sequence;

    public PipelinedCall(IpcChannel channel, TForm form, int inFlight)
    {
        (_channel, _form) = (channel, form);
        _received = form.RoomForReply();
        _calls = new (ulong, long, int)[inFlight];
        _free = [.. Enumerable.Range(0, inFlight)];
        _freeCount = inFlight;
    }

    public override Timing Once()
    {
        while (_freeCount > 0)
            Submit();
        return Complete();
    }

    public override void Finish()
    {
        while (_freeCount < _free.Length)
            Complete();
    }

    private void Submit()
    {
        var tag = _free[_freeCount - 1];
        _form.Prepare(++_sequence);
        var begin = Clock.Now;
        var request = _form.Encode();
        _calls[tag] = (_sequence, begin, request.Length);
        _channel.Submit(request, (ulong)tag);
        _freeCount--;
    }

    private Timing Complete()
    {
        var completion = _channel.Complete(_received);
        if (completion.Outcome == IpcStatus.BufferTooSmall)
        {
            throw Failure.WrongContent(
                $"the reply has {completion.Length} bytes, more than are due: check that both peers got the same workload");
        }
        completion.ThrowIfFailed();
        var reply = _received.AsSpan(0, completion.Length);
        _form.Decode(reply);
        var end = Clock.Now;
        var call = _calls[(int)completion.Tag];
        _form.Check(call.Sequence, reply);
        _free[_freeCount++] = (int)completion.Tag;
        return new Timing(end, end - call.Begin, call.RequestBytes + completion.Length);
    }
}
