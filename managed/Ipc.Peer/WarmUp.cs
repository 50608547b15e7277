namespace Ipc.Peer;

internal readonly record struct Warmth(long Operations, double OperationsPerSecond);

/// <summary>Repeats an operation until its time no longer changes and the runtime has compiled it for the last time.</summary>
internal sealed class WarmUp(Operation operation, double leastSeconds)
{
    private const double Steady = 1.05;
    private const int WindowsCompared = 3;
    private const int MostTimesLonger = 3;
    private const int WindowsInLeast = 8;
    // The runtime compiles a method anew after 30 calls, and once more after 30 calls with counters in it, each batch after a pause. The
    // slowest codec, json, had its last code after 300 exchanges; between two batches its times were steady as well.
    private const int LeastOperations = 300;
    private const int MostInWindow = 1 << 18;

    private readonly int[] _window = GC.AllocateUninitializedArray<int>(MostInWindow);
    private readonly List<(int Median, long Compiled)> _windows = [];

    /// <summary>Repeats at least the least time, and until the medians of three successive windows lie within 5 % and nothing was compiled
    /// in the last two; three times as long at most.</summary>
    public Warmth Run()
    {
        var begin = Clock.Now;
        var least = Clock.After(begin, leastSeconds);
        var latest = Clock.After(begin, leastSeconds * MostTimesLonger);
        var operations = 0L;
        for (var windowBegin = begin; ;)
        {
            var count = FillWindow(Clock.After(windowBegin, leastSeconds / WindowsInLeast), out var end);
            operations += count;
            if (end >= latest || (end >= least && operations >= LeastOperations && IsSteady()))
                return new Warmth(operations, count / Math.Max(Clock.ToSeconds(end - windowBegin), 1e-9));
            windowBegin = Clock.Now;
        }
    }

    private int FillWindow(long until, out long end)
    {
        var count = 0;
        do
        {
            var timing = operation.Once();
            _window[count++] = (int)Math.Min(timing.Ticks, int.MaxValue);
            end = timing.End;
        }
        while (end < until && count < MostInWindow);
        Array.Sort(_window, 0, count);
        _windows.Add((_window[count / 2], RuntimeFacts.CompiledMethods));
        return count;
    }

    private bool IsSteady()
    {
        if (_windows.Count < WindowsCompared)
            return false;
        var last = _windows.GetRange(_windows.Count - WindowsCompared, WindowsCompared);
        return last.Max(w => w.Median) <= last.Min(w => w.Median) * Steady && last[0].Compiled == last[^1].Compiled;
    }
}
