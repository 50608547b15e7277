namespace Ipc.Peer;

/// <summary>Scenario `push`, the client: a message whose receiver only confirms, with one byte, that it has it.</summary>
/// <param name="channel">To the server.</param>
/// <param name="message">Stamped anew for each time.</param>
/// <param name="byCall">The transport has calls only: the message is a request and the confirmation its reply.</param>
internal sealed class Push(IpcChannel channel, byte[] message, bool byCall) : Operation
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
        return new Timing(end, end - begin, message.Length + length);
    }
}

/// <summary>Scenario `push`, the server.</summary>
internal sealed class PushService(IpcChannel channel, byte[] expected, bool byCall) : Service(channel)
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
            Channel.Send(s_confirmation);
        }

        PayloadData.Stamp(expected, ++_sequence);
        Content.Check("message", _received.AsSpan(0, length), expected);
        Content.Spoil(_received);
    }
}
