using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>What has arrived, and whether it is what is due.</summary>
internal abstract class Arriving
{
    /// <summary>Dropped messages so far, as the transport told.</summary>
    public long Lost { get; protected set; }

    /// <summary>Receives one stretch of so many senders from one source, and tells how it goes. No clock is read between two portions.</summary>
    public void ReceiveStretch<TSource>(ref TSource source, Portions portions, int senders, int portion) where TSource : struct, ISource
    {
        BeginStretch();
        var taken = Take(ref source, 1, senders);
        portions.Begin();
        while (!HasEnded(senders))
        {
            portions.Add(taken);
            taken = Take(ref source, portion, senders);
        }
        portions.End(taken);
        CheckStretch();
    }

    /// <summary>Takes messages until so many have come or the last of the stretch; returns how many (end marks do not count). A method of
    /// its own, so that the runtime can replace it by better code while the stretch goes on.</summary>
    protected abstract long Take<TSource>(ref TSource source, long most, int senders) where TSource : struct, ISource;

    protected abstract void BeginStretch();

    protected abstract bool HasEnded(int senders);

    /// <summary>What can only be checked when all is there.</summary>
    protected virtual void CheckStretch()
    {
    }

    protected static Failure WrongContent(ulong head) => Failure.WrongContent(
        $"message {head & MessageHead.Sequence} is not what was sent: the transport damaged it, or the peers got different seeds");
}

/// <summary>What has arrived from each client so far, and whether it is what is due.</summary>
internal sealed class Arrivals : Arriving
{
    private readonly MessagePattern _pattern;
    private readonly ulong[] _next; // head of the next message of each client
    private int _ended;

    public Arrivals(Cell cell, MessagePattern pattern)
    {
        _pattern = pattern;
        _next = new ulong[cell.Clients];
        for (var client = 0; client < _next.Length; client++)
            _next[client] = MessageHead.FirstOf(client);
    }

    protected override void BeginStretch() => _ended = 0;

    protected override bool HasEnded(int senders) => _ended == senders;

    protected override long Take<TSource>(ref TSource source, long most, int senders)
    {
        var taken = 0L;
        while (taken < most)
        {
            var received = source.Next(most - taken);
            if (source.MayLose)
                SkipLost(source.Lost);
            var due = CountDue(received);
            source.Use(due);
            taken += due;
            if (due != 0)
                continue;
            CheckEndMark(received.Messages[..received.Lengths[0]]);
            source.Use(1);
            if (++_ended == senders)
                break;
        }
        return taken;
    }

    /// <summary>How many messages from the first on are the ones due from the client that sent the first. In one loop with all it needs in
    /// registers: a batch of short messages is received in less time than keeping a count in memory for each would take.</summary>
    private int CountDue(in Received received)
    {
        if (received.Lengths[0] != _pattern.Length)
            return 0;
        var client = MessageHead.ClientOf(MemoryMarshal.Read<ulong>(received.Messages));
        if (client >= (ulong)_next.Length)
            return 0;
        var due = _pattern.CountRight(received.Messages, received.Lengths, _next[client]);
        _next[client] += (ulong)due;
        return due;
    }

    private void SkipLost(long lost)
    {
        Lost += lost;
        _next[0] += (ulong)lost;
    }

    private void CheckEndMark(ReadOnlySpan<byte> message)
    {
        if (message.Length != _pattern.Length)
            throw Failure.WrongLength("message", message.Length, _pattern.Length);
        var head = MemoryMarshal.Read<ulong>(message);
        var plain = head & ~MessageHead.EndMark;
        var client = MessageHead.ClientOf(plain);
        if (client >= (ulong)_next.Length)
        {
            throw Failure.WrongContent(
                $"a message says it comes from client {client} of {_next.Length}: the transport damaged it, or a stranger sends here");
        }
        if (plain != _next[client])
            throw Failure.WrongSequence($"message of client {client}", plain & MessageHead.Sequence, _next[client] & MessageHead.Sequence);
        // What remains is an end mark in its place, or a message in its place with a wrong byte.
        if (plain == head || !_pattern.IsRight(message, head))
            throw WrongContent(head);
    }
}

/// <summary>The same for a queue that gives the newest message first: every message of the stretch once, in whatever order. An end mark then
/// only tells how many there are; that they are those, sums over their numbers and squares tell.</summary>
internal sealed class UnorderedArrivals : Arriving
{
    private struct ByClient
    {
        public ulong First; // head of its first message of this stretch
        public ulong End; // that of its end mark, once it has come
        public bool HasEnded;
        public ulong Sum;
        public ulong Squares;
    }

    private readonly MessagePattern _pattern;
    private readonly ByClient[] _clients;
    private int _ended;
    private long _left; // what the end marks so far announced, less what came

    public UnorderedArrivals(Cell cell, MessagePattern pattern)
    {
        _pattern = pattern;
        _clients = new ByClient[cell.Clients];
        for (var client = 0; client < _clients.Length; client++)
            _clients[client].End = MessageHead.FirstOf(client);
    }

    protected override void BeginStretch()
    {
        (_ended, _left) = (0, 0);
        foreach (ref var client in _clients.AsSpan())
            client = new ByClient { First = client.End, End = client.End };
    }

    protected override bool HasEnded(int senders) => _ended == senders && _left == 0;

    protected override long Take<TSource>(ref TSource source, long most, int senders)
    {
        var taken = 0L;
        while (taken < most && !HasEnded(senders))
        {
            taken += Note(source.Next(1).Messages);
            source.Use(1);
        }
        return taken;
    }

    protected override void CheckStretch()
    {
        for (var number = 0; number < _clients.Length; number++)
        {
            var client = _clients[number];
            var (sum, squares) = (0UL, 0UL);
            for (var head = client.First; head < client.End; head++)
            {
                sum += head;
                squares += head * head;
            }
            if ((sum, squares) != (client.Sum, client.Squares))
            {
                throw Failure.WrongContent(
                    $"the messages of client {number} did not come once each: the transport lost some and repeated others");
            }
        }
    }

    /// <summary>1 for a message, 0 for an end mark.</summary>
    private int Note(ReadOnlySpan<byte> message)
    {
        if (message.Length != _pattern.Length)
            throw Failure.WrongLength("message", message.Length, _pattern.Length);
        var head = MemoryMarshal.Read<ulong>(message);
        var plain = head & ~MessageHead.EndMark;
        var number = MessageHead.ClientOf(plain);
        if (number >= (ulong)_clients.Length || plain < _clients[number].First || !_pattern.IsRight(message, head))
            throw WrongContent(plain);
        ref var client = ref _clients[number];
        if (plain == head)
        {
            client.Sum += head;
            client.Squares += head * head;
            _left--;
            return 1;
        }
        if (client.HasEnded)
            throw WrongContent(plain);
        client.HasEnded = true;
        client.End = plain;
        _left += (long)(plain - client.First);
        _ended++;
        return 0;
    }
}
