namespace Ipc.Peer;

/// <summary>Scenario `push`, the client: a message whose receiver only confirms, with one byte, that it has it.</summary>
internal sealed class Push(Channel channel, byte[] message) : Operation
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
        channel.Send(message);
        var length = channel.Receive(_answer);
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
internal sealed class PushService(Channel channel, byte[] expected) : Service(channel)
{
    private static readonly byte[] s_confirmation = [Push.Confirmation];

    private readonly byte[] _received = new byte[expected.Length];
    private ulong _sequence;

    public override void Once()
    {
        IsWaiting = true;
        var length = Channel.Receive(_received);
        IsWaiting = false;
        Channel.Send(s_confirmation);

        PayloadData.Stamp(expected, ++_sequence);
        Content.Check("message", _received.AsSpan(0, length), expected);
        Content.Spoil(_received);
    }
}
