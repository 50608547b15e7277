using System.Buffers.Binary;

namespace Ipc.Peer;

/// <summary>So many messages of one length, one after the other in memory, none of which shares a cache line with another.</summary>
internal sealed unsafe class MessagePool
{
    private const int CacheLine = 64;

    private readonly byte[] _memory;
    private readonly int _first;
    private readonly int _stride;
    private readonly int _length;

    public MessagePool(int count, int length)
    {
        (_stride, _length) = (StrideOf(length), length);
        _memory = new byte[checked(count * _stride + CacheLine)];
        // So large an array is never moved, so what is aligned now remains so.
        fixed (byte* start = _memory)
            _first = (int)(-(nint)start & (CacheLine - 1));
        // A page is there once it is written to.
        _memory.AsSpan().Fill(1);
    }

    public Span<byte> this[int slot] => _memory.AsSpan(_first + slot * _stride, _length);

    public static int StrideOf(int length) => Math.Max(CacheLine, (length + CacheLine - 1) & -CacheLine);
}

/// <summary>Both messages of every slot, and which slot is next: every slot once, then from the beginning.</summary>
internal sealed class ShuffledData
{
    private readonly int[] _turns;
    private readonly byte[] _request;
    private readonly byte[] _reply;
    private int _at;

    public ShuffledData(Cell cell)
    {
        var workload = cell.Workload;
        if (cell.PoolBytes is not { } bytes)
            throw Failure.BadCell("the cell has no pool_bytes: scenario shuffled needs bytes to choose from");
        if (workload.RequestBytes < sizeof(ulong) || workload.ReplyBytes < sizeof(ulong))
            throw Failure.BadCell($"workload '{workload.Id}' has messages of less than 8 bytes: scenario shuffled could not tell them apart");
        _request = PayloadData.Raw(cell.Seed, workload.RequestBytes);
        _reply = PayloadData.Raw(unchecked(cell.Seed + 1), workload.ReplyBytes);
        // As many as fit with both messages: what each process touches.
        Slots = Math.Max(2, bytes / (MessagePool.StrideOf(_request.Length) + MessagePool.StrideOf(_reply.Length)));
        _turns = Order(Slots, cell);
    }

    public int Slots { get; }

    public int Next()
    {
        if (_at == _turns.Length)
            _at = 0;
        return _turns[_at++];
    }

    public MessagePool Requests() => Filled(_request);
    public MessagePool Replies() => Filled(_reply);
    public MessagePool PlacesForRequests() => new(Slots, _request.Length);
    public MessagePool PlacesForReplies() => new(Slots, _reply.Length);

    /// <summary>That these bytes are the request of the slot; makes its place unlike it.</summary>
    public void CheckRequest(Span<byte> found, int slot) => Check("request", found, _request, slot);

    /// <summary>The same of the reply.</summary>
    public void CheckReply(Span<byte> found, int slot) => Check("reply", found, _reply, slot);

    private static void Check(string what, Span<byte> found, byte[] due, int slot)
    {
        PayloadData.Stamp(due, NumberOf(slot));
        Content.Check(what, found, due);
        Content.Spoil(found);
    }

    private MessagePool Filled(byte[] payload)
    {
        var pool = new MessagePool(Slots, payload.Length);
        for (var slot = 0; slot < Slots; slot++)
        {
            PayloadData.Stamp(payload, NumberOf(slot));
            payload.AsSpan().CopyTo(pool[slot]);
        }
        return pool;
    }

    // A message of a slot says which one it is where those of `call` have their sequence.
    private static ulong NumberOf(int slot) => (ulong)slot + 1;

    private static int[] Order(int slots, Cell cell)
    {
        var order = new int[slots];
        for (var slot = 0; slot < slots; slot++)
            order[slot] = slot;
        if (cell.Order == "memory")
            return order;
        var generator = new Generator(unchecked(cell.Seed + 2));
        for (var last = slots - 1; last > 0; last--)
        {
            var other = (int)(generator.Next() % (ulong)(last + 1));
            (order[last], order[other]) = (order[other], order[last]);
        }
        return order;
    }
}

/// <summary>Scenario `shuffled`, the client: raw calls, each with a request and a reply of its own out of more of them than any cache holds, in random
/// order or in that of memory. What arrives is copied into memory that is as cold.</summary>
internal sealed class ShuffledCall(IpcChannel channel, ShuffledData data) : Operation
{
    private readonly MessagePool _requests = data.Requests();
    private readonly MessagePool _received = data.PlacesForReplies();

    public override Timing Once()
    {
        var slot = data.Next();
        var request = _requests[slot];
        var place = _received[slot];

        var begin = Clock.Now;
        var length = channel.Call(request, place);
        var end = Clock.Now;

        data.CheckReply(place[..length], slot);
        return new Timing(end, end - begin, request.Length + length);
    }
}

/// <summary>Its server: answers with the reply that the request asks for, and only then looks whether it was the one that is due.</summary>
internal sealed class ShuffledService(IpcChannel channel, ShuffledData data) : Service(channel)
{
    private readonly MessagePool _replies = data.Replies();
    private readonly MessagePool _received = data.PlacesForRequests();

    public override void Once()
    {
        var request = ReceiveRequest();
        var slot = data.Next();
        var place = _received[slot];
        if (request.Length != place.Length)
            throw Refuse(Failure.WrongLength("request", request.Length, place.Length));
        request.CopyTo(place);
        var asked = BinaryPrimitives.ReadUInt64LittleEndian(place);
        if (asked - 1 >= (ulong)data.Slots)
        {
            throw Refuse(Failure.WrongContent(
                $"the request asks for reply {asked} of {data.Slots}: check that both peers got the same workload and pool_bytes"));
        }
        Channel.Reply(_replies[(int)(asked - 1)]);
        data.CheckRequest(place, slot);
    }
}
