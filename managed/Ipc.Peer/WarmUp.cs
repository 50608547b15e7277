namespace Ipc.Peer;

/// <summary>How a warm-up ended.</summary>
/// <param name="OperationsPerSecond">Of the fastest window, checks included.</param>
/// <param name="P50Ns">Median of the last window's timed regions.</param>
/// <param name="Unsettled">Why the process had not settled when the bound was reached, or null.</param>
internal readonly record struct Warmth(long Operations, double OperationsPerSecond, long P50Ns, string? Unsettled);

/// <summary>Repeats an operation until its time no longer changes and the runtime has compiled it for the last time.</summary>
internal sealed class WarmUp(Operation operation, double leastSeconds, double mostSeconds)
{
    private const double Steady = 1.05;
    private const int WindowsCompared = 3;
    // On a machine whose times never keep within 5 %, this often the least time is enough if the operation at least gets no faster.
    private const int MostTimesLonger = 3;
    private const int WindowsInLeast = 8;
    // The runtime compiles a method anew after 30 calls, and once more after 30 calls with counters in it, each batch after a pause. The
    // slowest codec, json, had its last code after 300 exchanges; between two batches its times were steady as well, so that nothing must
    // have been compiled, and no garbage of the start collected, for some time.
    private const int LeastOperations = 300;
    private const double StillSeconds = 0.1;
    private const int MostInWindow = 1 << 18;

    private readonly Samples _window = new(1);
    private readonly List<long> _medians = [];
    private (long Compiled, int Collected) _seen = (-1, -1);
    private long _compiledLast;
    private long _collectedLast;
    private int _windowsCollected; // the latest ones, without a gap
    // The fastest window's: the last may be slow by chance, and then the samples would outgrow their room while they are taken.
    private double _operationsPerSecond;

    /// <summary>Repeats at least the least time, and until the medians of three successive windows lie within 5 % and the runtime has been still for a
    /// tenth of a second; the most time at most.</summary>
    public Warmth Run() => Run(leastSeconds, LeastOperations);

    /// <summary>Goes on for a quarter of the least time, or until settled again.</summary>
    public Warmth RunOn() => Run(leastSeconds / 4, 1);

    private Warmth Run(double seconds, int leastOperations)
    {
        var begin = Clock.Now;
        var (least, longer, latest) = (
            Clock.After(begin, seconds), Clock.After(begin, leastSeconds * MostTimesLonger),
            Clock.After(begin, Math.Max(mostSeconds, leastSeconds * MostTimesLonger)));
        var operations = 0L;
        for (var windowBegin = begin; ;)
        {
            var count = FillWindow(Clock.After(windowBegin, leastSeconds / WindowsInLeast), out var end);
            operations += count;
            _operationsPerSecond = Math.Max(_operationsPerSecond, count / Math.Max(Clock.ToSeconds(end - windowBegin), 1e-9));
            var settled = end >= least && operations >= leastOperations && IsStill(end) && (end < longer ? IsSteady() : !GetsFaster());
            if (settled || end >= latest)
            {
                return new Warmth(operations, _operationsPerSecond, _medians[^1],
                    settled || (IsStill(end) && !GetsFaster()) ? null : WhyUnsettled(end));
            }
            windowBegin = Clock.Now;
        }
    }

    private int FillWindow(long until, out long end)
    {
        _window.Clear();
        long bytes = 0;
        end = Measurement.Repeat(operation, _window, MostInWindow, until, ref bytes);
        _medians.Add(_window.Median());
        var now = (Compiled: RuntimeFacts.CompiledMethods, Collected: GC.CollectionCount(GC.MaxGeneration));
        if (now.Compiled != _seen.Compiled)
            _compiledLast = end;
        if (now.Collected != _seen.Collected)
            _collectedLast = end;
        _windowsCollected = now.Collected != _seen.Collected ? _windowsCollected + 1 : 0;
        _seen = now;
        return (int)_window.Count;
    }

    // An operation that makes objects of megabytes has them collected window after window: that garbage is its own, not the start's.
    private long StirredLast => _windowsCollected >= WindowsCompared ? _compiledLast : Math.Max(_compiledLast, _collectedLast);

    private bool IsStill(long now) => Clock.ToSeconds(now - StirredLast) >= StillSeconds || RuntimeFacts.CompiledMethods == 0;

    private bool IsSteady() =>
        _medians.Count >= WindowsCompared && _medians.GetRange(_medians.Count - WindowsCompared, WindowsCompared) is var last
            && last.Max() <= last.Min() * Steady;

    private bool GetsFaster() => _medians.Count >= 2 * WindowsCompared && Middle(0) * Steady < Middle(WindowsCompared);

    // The median of some windows' medians, so many windows before the last.
    private long Middle(int before)
    {
        var some = _medians.GetRange(_medians.Count - before - WindowsCompared, WindowsCompared);
        some.Sort();
        return some[WindowsCompared / 2];
    }

    private string WhyUnsettled(long end) => IsStill(end)
        ? "it was still getting faster"
        : FormattableString.Invariant(
            $"its runtime was still compiling or collecting {Clock.ToSeconds(end - StirredLast) * 1000:0} ms before, with {_seen.Compiled} methods compiled");
}
