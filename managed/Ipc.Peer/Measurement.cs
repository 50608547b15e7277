namespace Ipc.Peer;

/// <summary>A measured stretch of operations.</summary>
internal sealed class Measurement
{
    private const int FewestSettling = 16;
    private const double LeastSettlingSeconds = 0.005;
    private const double MostSettlingSeconds = 0.5;
    // The runtime waits for 10 ms without a method that is new to it; what it then compiles had been compiled after 20 ms.
    private const double StillSeconds = 0.04;
    // Room beyond what the warm-up's rate promises: code may yet become faster.
    private const double Headroom = 1.25;

    private readonly Samples _samples;
    private long _ticks;
    private long _bytes;
    private Usage? _before;
    private Usage? _after;

    private Measurement(Samples samples) => _samples = samples;

    /// <summary>Measures as many operations, or as long, as the cell says.</summary>
    public static Measurement Run(Cell cell, Operation operation, double operationsPerSecond)
    {
        var expected = cell.Count ?? operationsPerSecond * cell.Seconds!.Value * Headroom;
        var measurement = new Measurement(new Samples(expected));
        measurement.Take(cell, operation);
        return measurement;
    }

    /// <summary>Writes the samples and then tells that they are there.</summary>
    public void Report(Cell cell, Control control)
    {
        if (cell.Samples is { Length: > 0 } path)
            _samples.Write(path);
        control.Emit(new MeasuredEvent(_samples.Count, Clock.ToNanoseconds(_ticks), _bytes, _before!, _after!), EventJson.Default.MeasuredEvent);
    }

    private void Take(Cell cell, Operation operation)
    {
        // What preparing left behind is collected now rather than in the middle of the measurement.
        GC.Collect();
        // Memory is read before settling, because it takes long enough for the peer to park.
        var memoryBefore = Memory.Read() - _samples.MemoryBytes;
        // Neither reading is new to the runtime when it counts.
        Counters.ReadBefore();
        Counters.ReadAfter();
        // What settles already keeps the pace that is measured.
        operation.Begin(Clock.Now);
        Settle(operation);
        // Whatever is measured also begins in the measurement.
        operation.Finish();

        var before = Counters.ReadBefore();
        var begin = Clock.Now;
        operation.Begin(begin);
        var until = cell.Count is null ? Clock.After(begin, cell.Seconds!.Value) : long.MaxValue;
        var end = Repeat(operation, _samples, cell.Count ?? long.MaxValue, until, ref _bytes);
        var after = Counters.ReadAfter();
        operation.Finish();

        _ticks = end - begin;
        _before = before.With(memoryBefore);
        _after = after.WithoutSpinning(before, Clock.ToNanoseconds(operation.SpunTicks)).With(Memory.Read() - _samples.MemoryBytes);
    }

    /// <summary>A few operations that wake the peers, both of which parked while they waited for the word to go, and as many more as it takes until the
    /// runtime is still: collecting, reading memory and what was said last had it compile half a dozen methods for the last time, 10 to 20 ms after.</summary>
    private static void Settle(Operation operation)
    {
        var begin = Clock.Now;
        var (awake, latest) = (Clock.After(begin, LeastSettlingSeconds), Clock.After(begin, MostSettlingSeconds));
        var (compiled, since) = (RuntimeFacts.CompiledMethods, begin);
        for (var count = 1; ; count++)
        {
            var end = operation.Once().End;
            if (RuntimeFacts.CompiledMethods is var now && now != compiled)
                (compiled, since) = (now, end);
            var isStill = compiled == 0 || Clock.ToSeconds(end - since) >= StillSeconds;
            if ((isStill && (count >= FewestSettling || end >= awake)) || end >= latest)
                return;
        }
    }

    /// <summary>What is measured; the warm-up goes through the same code, so that the runtime has compiled it, too, for the last time.</summary>
    public static long Repeat(Operation operation, Samples samples, long count, long until, ref long bytes)
    {
        long end;
        do
        {
            var timing = operation.Once();
            samples.Add(Clock.ToNanoseconds(timing.Ticks));
            bytes += timing.Bytes;
            end = timing.End;
        }
        while (--count > 0 && end < until);
        return end;
    }
}
