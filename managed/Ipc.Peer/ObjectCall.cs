using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>Scenario `call` with objects, the client.</summary>
internal sealed class ObjectCall<TCodec, TRequest, TReply> : Operation
    where TCodec : struct, ICodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    private readonly IpcChannel _channel;
    private readonly Dialogue<TRequest, TReply> _dialogue;
    private readonly MessageBuffer _request = new();
    private readonly byte[] _received;
    private ulong _sequence;

    public ObjectCall(IpcChannel channel, Dialogue<TRequest, TReply> dialogue)
    {
        _channel = channel;
        _dialogue = dialogue;
        var longest = new MessageBuffer();
        if (dialogue.Reply is { } reply)
        {
            // A codec may write small numbers shorter than large ones.
            reply.Sequence = ulong.MaxValue;
            default(TCodec).EncodeReply(reply, longest);
        }
        _received = ObjectRoom.For(longest);
    }

    public override Timing Once()
    {
        var request = _dialogue.Request;
        request.Sequence = ++_sequence;

        var begin = Clock.Now;
        _request.Clear();
        default(TCodec).EncodeRequest(request, _request);
        var length = _channel.Call(_request.Written, _received);
        var reply = default(TCodec).DecodeReply(_received.AsSpan(0, length));
        var end = Clock.Now;

        if (reply.Sequence != _sequence)
            throw Failure.WrongSequence("reply", reply.Sequence, _sequence);
        if (!_dialogue.IsRightReply(reply))
        {
            throw Failure.WrongContent(
                $"reply {_sequence} does not hold what the server should have sent: compare the seeds and the codecs of both sides");
        }
        Content.Spoil(_received.AsSpan(0, length));
        return new Timing(end, end - begin, _request.Written.Length + length);
    }
}

/// <summary>Room for an object as another implementation of its codec may write it.</summary>
internal static class ObjectRoom
{
    // JSON text has at most six times as many bytes, a six-character escape for each character; and white space is allowed.
    private const int MostGrowth = 6;
    private const int RoomForNumbers = 64;

    public static byte[] For(MessageBuffer own) => new byte[(int)Math.Min(Array.MaxLength, ((long)MostGrowth * own.Written.Length) + RoomForNumbers)];
}

/// <summary>Scenario `call` with objects, the server: receives into memory of its own, decodes, answers, and then checks what came.</summary>
internal sealed class ObjectCallService<TCodec, TRequest, TReply> : Service
    where TCodec : struct, ICodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    private readonly Dialogue<TRequest, TReply> _dialogue;
    private readonly MessageBuffer _reply = new();
    private readonly byte[] _received;
    private int _length;
    private ulong _sequence;

    public ObjectCallService(IpcChannel channel, Dialogue<TRequest, TReply> dialogue) : base(channel)
    {
        _dialogue = dialogue;
        var longest = new MessageBuffer();
        dialogue.Request.Sequence = ulong.MaxValue;
        default(TCodec).EncodeRequest(dialogue.Request, longest);
        _received = ObjectRoom.For(longest);
    }

    public override void Once()
    {
        var request = Receive();
        try
        {
            var reply = _dialogue.Answer(request);
            reply.Sequence = request.Sequence;
            _reply.Clear();
            default(TCodec).EncodeReply(reply, _reply);
        }
        catch (UnknownNameException e)
        {
            // Refused, not failed: this server goes on.
            _sequence++;
            Channel.FailRequest(e.Message);
            return;
        }
        Channel.Reply(_reply.Written);
        Check(request);
    }

    private TRequest Receive()
    {
        var request = ReceiveRequest();
        if (request.Length > _received.Length)
            throw Refuse(Failure.WrongLength("request", request.Length, _received.Length));
        request.CopyTo(_received);
        _length = request.Length;
        try
        {
            return default(TCodec).DecodeRequest(_received.AsSpan(0, request.Length));
        }
        catch (CodecException e)
        {
            throw Refuse(Failure.From(e));
        }
    }

    private void Check(TRequest request)
    {
        if (request.Sequence != ++_sequence)
            throw Failure.WrongSequence("request", request.Sequence, _sequence);
        if (!_dialogue.IsRightRequest(request))
        {
            throw Failure.WrongContent(
                $"request {_sequence} does not hold what the client should have sent: compare the seeds and the codecs of both sides");
        }
        Content.Spoil(_received.AsSpan(0, _length));
    }
}
