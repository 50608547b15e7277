using Ipc.Lab.Statistics;

namespace Ipc.Lab.Machine;

/// <summary>What this machine makes every figure pay, measured over some seconds. Null means not measured.</summary>
/// <param name="Looks">How often the processors were looked at; null without the floors program or with one processor.</param>
/// <param name="LineNs">A cache line's round trip between the two processors, the median; from <paramref name="LeastLineNs"/> to
/// <paramref name="MostLineNs"/>.</param>
/// <param name="MovesPerSecond">How often the line time changed its kind: the host moved the processors.</param>
/// <param name="WakeUpNs">From one process's signal until the other, which slept, goes on: half of what a round trip by futex takes longer than one by
/// spinning.</param>
/// <param name="TakenPerSecondNs">Of each second in which one thread computes: what others had of its processor.</param>
/// <param name="LongestTakenNs">The longest of it at once.</param>
/// <param name="UnevenPercent">By how much the same computation is slower in its slowest tenth than in its fastest, what others took left out.</param>
/// <param name="ClockStepNs">The least the clock goes on by.</param>
/// <param name="ClockReadNs">What one reading takes.</param>
/// <param name="TimerLateNs">By how much a sleep of 1 ms is longer, the median.</param>
internal sealed record MachineCosts(
    int? Looks, double? LineNs, double? LeastLineNs, double? MostLineNs, double? MovesPerSecond, double? WakeUpNs, double TakenPerSecondNs,
    double LongestTakenNs,
    double UnevenPercent, double ClockStepNs, double ClockReadNs, double TimerLateNs)
{
    /// <summary>The same with what the floors program saw of the processors, one look after the other.</summary>
    /// <param name="looks">A cache line's round trip, and one through a futex.</param>
    public MachineCosts With(IReadOnlyList<(double LineNs, double FutexNs)> looks, double seconds)
    {
        if (looks.Count == 0)
            return this;
        var bounds = LineClusters.Bounds(looks.Select(l => l.LineNs));
        var kinds = looks.Select(l => bounds.Count(bound => l.LineNs > bound)).ToList();
        return this with
        {
            Looks = looks.Count,
            LineNs = Medians.Of(looks.Select(l => l.LineNs)),
            LeastLineNs = looks.Min(l => l.LineNs),
            MostLineNs = looks.Max(l => l.LineNs),
            MovesPerSecond = kinds.Zip(kinds.Skip(1)).Count(p => p.First != p.Second) / seconds,
            WakeUpNs = Medians.Of(looks.Select(l => Math.Max(0, l.FutexNs - l.LineNs) / 2)),
        };
    }
}
