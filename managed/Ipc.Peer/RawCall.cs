using System.Buffers.Binary;
using System.Text;

namespace Ipc.Peer;

/// <summary>The bytes of a raw exchange; workload `ping` carries its two texts without a sequence.</summary>
internal sealed class RawPayloads
{
    public RawPayloads(WorkloadEntry workload, ulong seed)
    {
        IsSequenced = workload.Text is not { Count: 2 };
        Request = IsSequenced ? PayloadData.Raw(seed, workload.RequestBytes) : Encoding.UTF8.GetBytes(workload.Text![0]);
        Reply = IsSequenced ? PayloadData.Raw(unchecked(seed + 1), workload.ReplyBytes) : Encoding.UTF8.GetBytes(workload.Text![1]);
    }

    public byte[] Request { get; }
    public byte[] Reply { get; }
    public bool IsSequenced { get; }

    /// <summary>Makes them those of exchange <paramref name="sequence"/>.</summary>
    public void Stamp(ulong sequence)
    {
        if (!IsSequenced)
            return;
        PayloadData.Stamp(Request, sequence);
        PayloadData.Stamp(Reply, sequence);
    }
}

/// <summary>The client's exchange in its three steps, of which the second alone is timed.</summary>
internal sealed class RawExchange(RawPayloads payloads)
{
    // So that a reply a little too long is told apart rather than cut.
    private const int RoomForTooMuch = 64;

    private readonly byte[] _received = new byte[payloads.Reply.Length + RoomForTooMuch];
    private ulong _sequence;
    private int _length;

    /// <summary>The next request.</summary>
    public void Prepare() => payloads.Stamp(++_sequence);

    /// <summary>May run on another thread than the other two, one at a time.</summary>
    public void Call(IpcChannel channel) => _length = channel.Call(payloads.Request, _received);

    /// <summary>That the reply is right. Returns the bytes moved, both ways.</summary>
    public long CheckReply()
    {
        var reply = _received.AsSpan(0, _length);
        Content.Check("reply", reply, payloads.Reply);
        Content.Spoil(reply);
        return payloads.Request.Length + _length;
    }
}

/// <summary>Scenario `call` with codec `raw`, the client.</summary>
internal sealed class RawCall(IpcChannel channel, RawPayloads payloads) : Operation
{
    private readonly RawExchange _exchange = new(payloads);

    public override Timing Once()
    {
        _exchange.Prepare();
        var begin = Clock.Now;
        _exchange.Call(channel);
        var end = Clock.Now;
        return new Timing(end, end - begin, _exchange.CheckReply());
    }
}

/// <summary>Scenario `call` with codec `raw`, the server: copies the request into memory of its own, sends the prepared reply, and only
/// then looks whether the request was right. The next exchange's sequence is stamped while nobody waits for it.</summary>
/// <param name="endsByWord">An empty request, which gets an empty reply, is the client's word that it has made its last call.</param>
internal sealed class RawCallService(IpcChannel channel, RawPayloads payloads, bool endsByWord = false) : Service(channel)
{
    private readonly byte[] _received = new byte[payloads.Request.Length];
    private ulong _sequence;

    // A client that closes instead may go on with this one over another connection.
    public override void Prepare() => payloads.Stamp(_sequence + 1);

    public override void Once()
    {
        var request = ReceiveRequest();
        if (endsByWord && request.IsEmpty)
        {
            Channel.Reply([]);
            IsWaiting = true;
            request = Channel.ReceiveRequest();
        }
        _sequence++;
        if (request.Length != _received.Length)
            throw Refuse(Failure.WrongLength("request", request.Length, _received.Length));
        request.CopyTo(_received);

        // A request out of turn, which is then found wrong, gets its own sequence back. Read where the request lies: a processor stands still until a
        // copy's last bytes have left its queue of stores.
        if (payloads.IsSequenced && BinaryPrimitives.TryReadUInt64LittleEndian(request, out var asked) && asked != _sequence)
            PayloadData.Stamp(payloads.Reply, asked);
        Channel.Reply(payloads.Reply);
        Content.Check("request", _received, payloads.Request);
        Content.Spoil(_received);
    }
}
