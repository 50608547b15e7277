using System.Runtime.InteropServices;

namespace Ipc.Peer;

// A one-way cell is two stretches, warm-up and measurement, each ended by an end mark from every sender. What is here is the same for
// every way to send and to receive. Ways are structs, so that the runtime makes code for each and no call of ours is virtual.

/// <summary>A way to receive.</summary>
internal interface ISource
{
    /// <summary>Whether messages may be missing, as <see cref="Lost"/> says.</summary>
    bool MayLose { get; }

    /// <summary>The next message, valid until the next call.</summary>
    ReadOnlySpan<byte> Next();

    /// <summary>Messages dropped just before the last one.</summary>
    long Lost { get; }
}

/// <summary>A way to send.</summary>
internal interface ISink
{
    /// <summary>Where the next message is written.</summary>
    Span<byte> Room { get; }

    /// <summary>The room holds a message: it goes out now, or with the next flush.</summary>
    void Put();

    void Flush();
}

/// <summary>The receiver's time, taken once for so many messages and divided down: a clock read for every message would cost more than the
/// message. Any number of threads may add.</summary>
/// <param name="portion">Messages of one sample.</param>
/// <param name="samples">Takes picoseconds per message of each portion (of the whole stretch where it is shorter than one), or null.</param>
internal sealed class Portions(long portion, Samples? samples)
{
    private readonly Lock _adding = new();
    private long _begin;
    private long _last;
    private long _end;
    private long _pending;

    public long Operations { get; private set; }

    /// <summary>From the first message of all to the last end mark of all.</summary>
    public long ElapsedNs => Clock.ToNanoseconds(_end - _begin);

    /// <summary>Samples the measured stretch will bring, judged by this one's rate.</summary>
    public double Expect(Cell cell, int senders)
    {
        const double Headroom = 1.25;
        var messages = cell.Count is { } count ? (double)count * senders : Operations * 1e9 / Math.Max(ElapsedNs, 1) * cell.Seconds!.Value * Headroom;
        return messages / cell.MessagesOfSample;
    }

    /// <summary>A thread has its first message. The first of all begins the stretch.</summary>
    public void Begin()
    {
        lock (_adding)
        {
            if (_begin == 0)
                _begin = _last = Clock.Now;
        }
    }

    /// <summary>A thread has received so many more.</summary>
    public void Add(long messages)
    {
        lock (_adding)
        {
            Operations += messages;
            _pending += messages;
            if (_pending >= portion)
                Keep(Clock.Now);
        }
    }

    /// <summary>A thread has received so many more and then its last end mark.</summary>
    public void End(long messages)
    {
        lock (_adding)
        {
            Operations += messages;
            _pending += messages;
            _end = Clock.Now;
            // The rest of the last portion is in the rate; a sample of its own would weigh a few messages as much as a thousand.
            if (_pending >= portion || (samples is { Count: 0 } && _pending > 0))
                Keep(_end);
        }
    }

    private void Keep(long now)
    {
        samples?.Add(Math.Max(1, (long)(Clock.ToNanoseconds(now - _last) * 1000.0 / _pending)));
        _last = now;
        _pending = 0;
    }
}

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
        var next = _next;
        var pattern = _pattern;
        var taken = 0L;
        while (taken < most)
        {
            var message = source.Next();
            if (message.Length != pattern.Length)
                throw Failure.WrongLength("message", message.Length, pattern.Length);
            var head = MemoryMarshal.Read<ulong>(message);
            if (source.MayLose)
                SkipLost(source.Lost);
            var client = MessageHead.ClientOf(head);
            if (client >= (ulong)next.Length || head != next[client])
            {
                CheckEndMark(message, head);
                if (++_ended == senders)
                    break;
                continue;
            }
            if (!pattern.IsRight(message, head))
                throw WrongContent(head);
            next[client] = head + 1;
            taken++;
        }
        return taken;
    }

    private void SkipLost(long lost)
    {
        Lost += lost;
        _next[0] += (ulong)lost;
    }

    private void CheckEndMark(ReadOnlySpan<byte> message, ulong head)
    {
        var plain = head & ~MessageHead.EndMark;
        var client = MessageHead.ClientOf(plain);
        if (client >= (ulong)_next.Length)
        {
            throw Failure.WrongContent(
                $"a message says it comes from client {client} of {_next.Length}: the transport damaged it, or a stranger sends here");
        }
        if (plain != _next[client])
            throw Failure.WrongSequence($"message of client {client}", plain & MessageHead.Sequence, _next[client] & MessageHead.Sequence);
        // What remains is an end mark in its place.
        if (!_pattern.IsRight(message, head))
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
            taken += Note(source.Next());
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

/// <summary>Sends stretches: messages whose sequence runs on from one to the next.</summary>
internal sealed class Sender<TSink>(Control control, TSink sink, MessagePattern pattern, int client) where TSink : struct, ISink
{
    private const int Burst = 64; // messages between two looks at the clock

    private TSink _sink = sink;
    private ulong _head = MessageHead.FirstOf(client);

    /// <summary>One message on its way at once.</summary>
    public void SendFirst()
    {
        SendBurst(1);
        _sink.Flush();
    }

    /// <summary>Sends until so many have gone or <paramref name="isOver"/> says so of the time, then the end mark.</summary>
    /// <returns>How many messages went.</returns>
    public long Send(long count, Func<long, bool> isOver)
    {
        var sent = 0L;
        do
        {
            control.ThrowIfEnded();
            var due = (int)Math.Min(Burst, count - sent);
            SendBurst(due);
            sent += due;
        }
        while (sent < count && !isOver(Clock.Now));
        _sink.Flush();
        pattern.Write(_sink.Room, _head | MessageHead.EndMark);
        _sink.Put();
        _sink.Flush();
        return sent;
    }

    // A method of its own, so that the runtime can replace it by better code while the stretch goes on.
    private void SendBurst(int count)
    {
        var head = _head;
        for (var i = 0; i < count; i++)
        {
            pattern.Write(_sink.Room, head++);
            _sink.Put();
        }
        _head = head;
    }
}

/// <summary>The courses of the two ends.</summary>
internal static class Stretches
{
    private const int MostTimesLonger = 3;

    /// <summary>The sender's: warm-up stretch, `warm`, go, measured stretch, `measured`.</summary>
    /// <param name="begin">When it began to connect.</param>
    /// <param name="confirmed">Waits until the stretch has arrived, where the transport can tell.</param>
    public static void Send<TSink>(Cell cell, Control control, TSink sink, MessagePattern pattern, long begin, Action confirmed)
        where TSink : struct, ISink
    {
        var sender = new Sender<TSink>(control, sink, pattern, cell.Role == "client" ? cell.Client : 0);
        sender.SendFirst();
        var cold = Clock.Now - begin;
        var warm = 1 + sender.Send(long.MaxValue, WarmEnough(cell.WarmupSeconds));
        confirmed();
        control.Emit(new WarmEvent(warm, Clock.ToNanoseconds(cold)), EventJson.Default.WarmEvent);
        GC.Collect();
        var memoryBefore = Memory.Read();
        control.WaitForGo();

        var before = Counters.ReadBefore();
        var start = Clock.Now;
        var until = cell.Count is null ? Clock.After(start, cell.Seconds!.Value) : long.MaxValue;
        var sent = sender.Send(cell.Count ?? long.MaxValue, now => now >= until);
        var elapsed = Clock.Now - start;
        var after = Counters.ReadAfter();
        confirmed();
        control.Emit(
            new MeasuredEvent(sent, Clock.ToNanoseconds(elapsed), sent * pattern.Length, before.With(memoryBefore), after.With(Memory.Read())),
            EventJson.Default.MeasuredEvent);
    }

    /// <summary>The receiver's: both stretches, each told with `received`.</summary>
    /// <param name="senders">How many send to this receiver.</param>
    /// <param name="threads">How many threads receive: all of them together take a sample when each has had its portion.</param>
    /// <param name="receive">Receives one whole stretch.</param>
    /// <param name="lost">Messages dropped so far.</param>
    /// <param name="confirm">Tells the senders that the stretch is there, if the transport can.</param>
    /// <returns>The messages of both.</returns>
    public static long Receive(Cell cell, Control control, int senders, int threads, Action<Portions> receive, Func<long> lost, Action confirm)
    {
        var sample = (long)cell.MessagesOfSample * threads;
        var warmUp = new Portions(sample, samples: null);
        receive(warmUp);
        var lostInWarmUp = lost();
        var samples = new Samples(warmUp.Expect(cell, senders));
        var measured = new Portions(sample, samples);
        GC.Collect();
        var memoryBefore = Memory.Read() - samples.MemoryBytes;
        // Only now may the runner let the senders go on.
        control.Emit(ToEvent(cell, warmUp, lostInWarmUp), EventJson.Default.ReceivedEvent);
        var before = Counters.ReadBefore();
        confirm();
        receive(measured);
        var after = Counters.ReadAfter();
        var memoryAfter = Memory.Read() - samples.MemoryBytes;
        if (cell.Samples is { Length: > 0 } path)
            samples.Write(path);
        control.Emit(
            ToEvent(cell, measured, lost() - lostInWarmUp) with { UsageBefore = before.With(memoryBefore), UsageAfter = after.With(memoryAfter) },
            EventJson.Default.ReceivedEvent);
        confirm();
        return warmUp.Operations + measured.Operations;
    }

    /// <summary>True once the least time is over and the runtime has compiled nothing for a quarter of it; after three times as long at last.</summary>
    private static Func<long, bool> WarmEnough(double leastSeconds)
    {
        var begin = Clock.Now;
        var least = Clock.After(begin, leastSeconds);
        var latest = Clock.After(begin, leastSeconds * MostTimesLonger);
        var compiled = RuntimeFacts.CompiledMethods;
        var nextLook = begin;
        var quietSince = begin;
        return now =>
        {
            // Asking for the count with every burst would be work of its own.
            if (now < nextLook)
                return false;
            nextLook = Clock.After(now, leastSeconds / 16);
            if (RuntimeFacts.CompiledMethods is var count && count != compiled)
                (compiled, quietSince) = (count, now);
            return now >= latest || (now >= least && now >= Clock.After(quietSince, leastSeconds / 4));
        };
    }

    private static ReceivedEvent ToEvent(Cell cell, Portions portions, long lost) =>
        new(portions.Operations, portions.ElapsedNs, portions.Operations * cell.Workload.RequestBytes, lost, null, null);
}
