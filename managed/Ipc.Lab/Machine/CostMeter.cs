using System.Diagnostics;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Machine;

/// <summary>Measures in this process what the system takes from one that computes, reads the clock and sleeps.</summary>
internal static class CostMeter
{
    // So short that what takes much longer was interrupted, and long enough for the clock.
    private const int StepsOfChunk = 20_000;
    private const double TakenBeyond = 2;
    private const int ClockReads = 100_000;
    private const int Sleeps = 50;

    public static MachineCosts Measure(TimeSpan computing)
    {
        var chunks = Compute(computing);
        var typical = Medians.Of(chunks)!.Value;
        var taken = chunks.Where(c => c > TakenBeyond * typical).Select(c => c - typical).ToList();
        var own = chunks.Where(c => c <= TakenBeyond * typical).Order().ToArray();
        var (step, read) = LookAtClock();
        return new MachineCosts(
            null, null, null, null, null, null, taken.Sum() / chunks.Sum() * 1e9, taken.DefaultIfEmpty(0).Max(),
            100 * ((own[own.Length * 9 / 10] / own[own.Length / 10]) - 1), step, read, Oversleep());
    }

    private static List<double> Compute(TimeSpan time)
    {
        var chunks = new List<double>(1 << 16);
        var state = 1UL;
        for (var (begin, last) = (Stopwatch.GetTimestamp(), Stopwatch.GetTimestamp()); Stopwatch.GetElapsedTime(begin, last) < time;)
        {
            for (var i = 0; i < StepsOfChunk; i++)
                state = (state * 6364136223846793005) + 1442695040888963407;
            var now = Stopwatch.GetTimestamp();
            // What was computed is used, or it would be left out. The first chunks are compiled on the way.
            if (state != 0)
                chunks.Add(Stopwatch.GetElapsedTime(last, now).TotalNanoseconds);
            last = now;
        }
        return chunks.Count > 100 ? chunks[(chunks.Count / 10)..] : chunks;
    }

    private static (double StepNs, double ReadNs) LookAtClock()
    {
        var least = long.MaxValue;
        var begin = Stopwatch.GetTimestamp();
        var last = begin;
        for (var i = 0; i < ClockReads; i++)
        {
            var now = Stopwatch.GetTimestamp();
            if (now > last)
                least = Math.Min(least, now - last);
            last = now;
        }
        return (least * 1e9 / Stopwatch.Frequency, Stopwatch.GetElapsedTime(begin, last).TotalNanoseconds / ClockReads);
    }

    private static double Oversleep()
    {
        var late = new double[Sleeps];
        for (var i = 0; i < Sleeps; i++)
        {
            var begin = Stopwatch.GetTimestamp();
            Thread.Sleep(1);
            late[i] = Stopwatch.GetElapsedTime(begin).TotalNanoseconds - 1e6;
        }
        return Medians.Of(late)!.Value;
    }
}
