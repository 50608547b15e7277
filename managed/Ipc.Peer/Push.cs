namespace Ipc.Peer;

/// <summary>Scenario `push`, the client: messages whose receiver only confirms, with one byte for each or for so many, that it has them.</summary>
/// <param name="channel">To the server.</param>
/// <param name="message">Stamped anew for each time.</param>
/// <param name="bucket">Messages of one confirmation.</param>
/// <param name="byCall">The transport has calls only: the message is a request and the confirmation its reply.</param>
internal sealed class Push(IpcChannel channel, byte[] message, int bucket, bool byCall) : Operation
{
    /// <summary>What the receiver sends back.</summary>
    public const byte Confirmation = 0x06;

    private readonly byte[] _answer = new byte[1];
    private ulong _sequence;

    public override Timing Once()
    {
        PayloadData.Stamp(message, ++_sequence);
        _answer[0] = 0;
        var begin = Clock.Now;
        int length;
        for (var more = bucket; --more > 0;)
        {
            channel.Send(message);
            PayloadData.Stamp(message, ++_sequence);
        }
        if (byCall)
        {
            length = channel.Call(message, _answer);
        }
        else
        {
            channel.Send(message);
            length = channel.Receive(_answer);
        }
        var end = Clock.Now;
        if (length != 1 || _answer[0] != Confirmation)
        {
            throw Failure.WrongContent(
                $"message {_sequence} was confirmed by something else than the byte 0x06: check that the server plays scenario push");
        }
        return new Timing(end, end - begin, ((long)bucket * message.Length) + length);
    }
}

/// <summary>Scenario `push`, the server.</summary>
internal sealed class PushService(IpcChannel channel, byte[] expected, int bucket, bool byCall) : Service(channel)
{
    private static readonly byte[] s_confirmation = [Push.Confirmation];

    private readonly byte[] _received = new byte[expected.Length];
    private ulong _sequence;

    public override void Once()
    {
        IsWaiting = true;
        int length;
        if (byCall)
        {
            var request = Channel.ReceiveRequest();
            IsWaiting = false;
            length = request.Length;
            if (length > _received.Length)
                throw Failure.WrongLength("message", length, _received.Length);
            request.CopyTo(_received);
            Channel.Reply(s_confirmation);
        }
        else
        {
            length = Channel.Receive(_received);
            IsWaiting = false;
            for (var more = bucket; --more > 0;)
            {
                Check(length);
                length = Channel.Receive(_received);
            }
            Channel.Send(s_confirmation);
        }
        Check(length);
    }

    private void Check(int length)
    {
        PayloadData.Stamp(expected, ++_sequence);
        Content.Check("message", _received.AsSpan(0, length), expected);
        Content.Spoil(_received);
    }
}
