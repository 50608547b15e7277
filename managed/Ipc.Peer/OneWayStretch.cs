namespace Ipc.Peer;

// A one-way cell is two stretches, warm-up and measurement, each ended by an end mark from every sender. What is here is the same for
// every way to send and to receive. Ways are structs, so that the runtime makes code for each and no call of ours is virtual.

/// <summary>A way to receive.</summary>
internal interface ISource
{
    /// <summary>Whether messages may be missing, as <see cref="Lost"/> says.</summary>
    bool MayLose { get; }

    /// <summary>The next messages, one at least and so many at most, valid until the next call. They come again unless they are used.</summary>
    Received Next(long most);

    /// <summary>So many of the messages given last are done with, of the cell's length each.</summary>
    void Use(int count);

    /// <summary>Messages dropped just before the last one given.</summary>
    long Lost { get; }
}

/// <summary>Messages back to back. The buffers are the source's.</summary>
internal readonly ref struct Received(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths)
{
    public readonly ReadOnlySpan<byte> Messages = messages;
    public readonly ReadOnlySpan<int> Lengths = lengths;
}

/// <summary>A way to send.</summary>
internal interface ISink
{
    /// <summary>Writes messages of the pattern, one at least and so many at most; they go out now, or with the next flush.</summary>
    /// <returns>How many.</returns>
    int Put(MessagePattern pattern, ulong head, int most);

    /// <summary>The measured stretch begins.</summary>
    void Begin(long ticks);

    /// <summary>Messages between two looks at the clock.</summary>
    int Burst { get; }

    /// <summary>Processor time spent in waiting until a message is due.</summary>
    long SpunTicks { get; }

    void Flush();
}

/// <summary>The receiver's time, taken once for so many messages and divided down: a clock read for every message would cost more than the
/// message. Any number of threads may add.</summary>
/// <param name="portion">Messages of one sample, or <see cref="EachTimed"/>.</param>
/// <param name="samples">Takes picoseconds per message of each portion (of the whole stretch where it is shorter than one), or null. Of messages timed one by
/// one, nanoseconds.</param>
internal sealed class Portions(long portion, Samples? samples)
{
    /// <summary>Messages of one sample, where each message is timed by itself and its receiver tells how long it took.</summary>
    public const long EachTimed = long.MaxValue;

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
        var rate = cell.Workload.Rate > 0 ? cell.Workload.Rate : Operations * 1e9 / Math.Max(ElapsedNs, 1);
        var messages = cell.Count is { } count ? (double)count * senders : rate * cell.Seconds!.Value * Headroom;
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
            if (_pending >= portion || (portion != EachTimed && samples is { Count: 0 } && _pending > 0))
                Keep(_end);
        }
    }

    /// <summary>A message was so many nanoseconds on its way: a sample, where messages are timed one by one.</summary>
    public void KeepTime(long nanoseconds) => samples?.Add(Math.Max(1, nanoseconds));

    private void Keep(long now)
    {
        samples?.Add(Math.Max(1, (long)(Clock.ToNanoseconds(now - _last) * 1000.0 / _pending)));
        _last = now;
        _pending = 0;
    }
}

internal static class Sender
{
    /// <summary>Messages between two looks at the clock, where they go as fast as they can.</summary>
    public const int UsualBurst = 64;
}

/// <summary>Sends stretches: messages whose sequence runs on from one to the next.</summary>
internal sealed class Sender<TSink>(Control control, TSink sink, MessagePattern pattern, int client) where TSink : struct, ISink
{
    private TSink _sink = sink;
    private ulong _head = MessageHead.FirstOf(client);

    /// <summary>One message on its way at once.</summary>
    public void SendFirst()
    {
        SendBurst(1);
        _sink.Flush();
    }

    /// <summary>The measured stretch begins.</summary>
    public void Begin(long ticks) => _sink.Begin(ticks);

    /// <summary>Processor time spent in waiting until a message was due.</summary>
    public long SpunTicks => _sink.SpunTicks;

    /// <summary>Sends until so many have gone or <paramref name="isOver"/> says so of the time, then the end mark.</summary>
    /// <returns>How many messages went.</returns>
    public long Send(long count, Func<long, bool> isOver)
    {
        var sent = 0L;
        do
        {
            control.ThrowIfEnded();
            var due = (int)Math.Min(_sink.Burst, count - sent);
            SendBurst(due);
            sent += due;
        }
        while (sent < count && !isOver(Clock.Now));
        _sink.Flush();
        _sink.Put(pattern, _head | MessageHead.EndMark, 1);
        _sink.Flush();
        return sent;
    }

    // A method of its own, so that the runtime can replace it by better code while the stretch goes on.
    private void SendBurst(int count)
    {
        var head = _head;
        var end = head + (ulong)count;
        while (head != end)
            head += (ulong)_sink.Put(pattern, head, (int)(end - head));
        _head = head;
    }
}

/// <summary>The courses of the two ends.</summary>
internal static class Stretches
{
    private const int MostTimesLonger = 3;

    /// <summary>The sender's: warm-up stretch, `warm`, go, measured stretch, `measured`.</summary>
    /// <param name="senders">The sending threads of this process, of which this is one.</param>
    /// <param name="client">The number that its messages carry.</param>
    /// <param name="begin">When it began to connect.</param>
    /// <param name="confirmed">Waits until the stretch has arrived, where the transport can tell.</param>
    public static void Send<TSink>(
        Cell cell, Control control, Senders senders, int client, TSink sink, MessagePattern pattern, long begin, Action confirmed)
        where TSink : struct, ISink
    {
        var sender = new Sender<TSink>(control, sink, pattern, client);
        sender.SendFirst();
        var cold = Clock.Now - begin;
        var warm = 1 + sender.Send(long.MaxValue, WarmEnough(cell.WarmupSeconds));
        confirmed();
        senders.WaitForGo(warm, cold);

        var start = Clock.Now;
        sender.Begin(start);
        var until = cell.Count is null ? Clock.After(start, cell.Seconds!.Value) : long.MaxValue;
        var sent = sender.Send(cell.Count ?? long.MaxValue, now => now >= until);
        senders.HaveSent(sent, Clock.Now - start, sender.SpunTicks);
        confirmed();
        senders.TellMeasured(pattern.Length);
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
        var sample = cell.IsStamped ? Portions.EachTimed : (long)cell.MessagesOfSample * threads;
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
