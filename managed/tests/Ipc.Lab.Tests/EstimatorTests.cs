using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;
using Xunit;
using Xunit.Abstractions;

namespace Ipc.Lab.Tests;

/// <summary>Figures and intervals of simulated runs whose true values are known.</summary>
public sealed class EstimatorTests(ITestOutputHelper output)
{
    private const int Runs = 3000;
    // Odd, so that the median is a sample.
    private const int Operations = 31;
    private const double TypicalNs = 20_000;

    /// <summary>How the launches of one machine differ: the factor by which a launch is slower, from a chance between 0 and 1.</summary>
    private static readonly Dictionary<string, Func<double, double>> s_machines = new()
    {
        ["quiet"] = _ => 1,
        ["normal"] = chance => 1 + (0.05 * Normal.InvCDF(0, 1, chance)),
        ["skewed"] = chance => 0.8 - (0.3 * Math.Log(1 - chance)),
        ["heavy tails"] = chance => Math.Exp(0.8 * Normal.InvCDF(0, 1, chance)),
        ["three in ten far"] = chance => chance < 0.7 ? 1 + (0.04 * chance / 0.7) : 2.5 + (0.3 * (chance - 0.7) / 0.3),
        ["a third near"] = chance => chance < 0.33 ? 0.4 + (0.04 * chance / 0.33) : 1 + (0.1 * (chance - 0.33) / 0.67),
        ["one in ten stalled"] = chance => chance < 0.9 ? 1 + (0.1 * chance) : 50,
    };

    public static TheoryData<string, int> MachinesAndLaunches()
    {
        var all = new TheoryData<string, int>();
        foreach (var machine in s_machines.Keys)
        {
            foreach (var launches in (int[])[6, 7, 10])
                all.Add(machine, launches);
        }
        return all;
    }

    [Theory]
    [MemberData(nameof(MachinesAndLaunches))]
    public void IntervalsHoldTheTrueMedianAsOftenAsTheySay(string machine, int launches)
    {
        var factor = s_machines[machine];
        var random = new MersenneTwister(machine.Length * 1000 + launches);
        var truth = factor(0.5) * TypicalNs;

        var held = 0;
        for (var run = 0; run < Runs; run++)
        {
            var p50 = Enumerable.Range(0, launches).Select(_ => Percentiles.At(Samples(factor, random), 5000)).ToList();
            held += MedianInterval.Of(p50) is [var low, var high] && low <= truth && truth <= high ? 1 : 0;
        }

        output.WriteLine($"{machine}, {launches} launches: {held / (double)Runs:P1}");
        Assert.InRange(held / (double)Runs, 0.93, 0.97);
    }

    [Fact]
    public void AFigureStandsInsideItsOwnInterval()
    {
        var random = new MersenneTwister(1);
        for (var i = 0; i < 100; i++)
        {
            var figures = Run(6 + (i % 5), s_machines["three in ten far"], random);

            Assert.InRange(figures.P50Ns!.Value, figures.P50Ci![0], figures.P50Ci[1]);
            Assert.InRange(figures.MeanNs!.Value, figures.MeanCi![0], figures.MeanCi[1]);
            Assert.InRange(figures.OpsPerS!.Value, figures.OpsPerSCi![0], figures.OpsPerSCi[1]);
        }
    }

    [Fact]
    public void LaunchesOfTheFasterKindDoNotOutvoteTheOthers()
    {
        // Two fast launches with a thousand times the operations of four slow ones.
        LaunchFigures[] launches = [.. Enumerable.Range(0, 6).Select(i => Launch(i < 2 ? 10_000 : 10, i < 2 ? 100u : 1000u))];

        var figures = FiguresBuilder.Build(null, [.. launches.Select(Measured)], Choices.ScenarioEntry("call"), null);

        Assert.Equal((1000.0, 1000.0), (figures.P50Ns, figures.MeanNs));
        Assert.InRange(figures.P50Ci![0], 100, 500);
    }

    [Fact]
    public void APercentileThatTheOperationsCannotGiveIsAbsent()
    {
        var some = Launch(4_999, 100);

        Assert.Equal((100.0, 100.0, null, null), (some.P90Ns, some.P99Ns, some.P999Ns, some.P9999Ns));
        Assert.Equal(100.0, Launch(5_000, 100).P999Ns);
        // Absent of the cell, too, when one of its launches cannot give it.
        var figures = FiguresBuilder.Build(null, [Measured(some), Measured(Launch(5_000, 100))], Choices.ScenarioEntry("call"), null);
        Assert.Equal((100.0, null), (figures.P99Ns, figures.P999Ns));
    }

    [Theory]
    [InlineData(5)]
    [InlineData(1)]
    public void TooFewLaunchesHaveNoInterval(int launches)
    {
        var figures = Run(launches, s_machines["normal"], new MersenneTwister(5));

        Assert.Equal((null, null, null), (figures.Coverage, figures.P50Ci, figures.OpsPerSCi));
        Assert.NotNull(figures.P50Ns);
    }

    [Fact]
    public void AStallInOneLaunchOfTenMovesNeitherP99NorRate()
    {
        var stalled = new uint[5000];
        Array.Fill(stalled, 1000u);
        stalled[2500] = 100_000_000;
        MeasuredLaunch[] launches = [.. Enumerable.Range(0, 9).Select(_ => Measured(Launch(5000, 1000))), Measured(Build(stalled))];

        var figures = FiguresBuilder.Build(null, launches, Choices.ScenarioEntry("call"), null);

        Assert.Equal((1000.0, 1000.0, 100_000_000.0), (figures.P99Ns, figures.MeanNs, figures.MaxNs));
    }

    private static PlacementFigures Run(int launches, Func<double, double> factor, MersenneTwister random)
    {
        var measured = new MeasuredLaunch[launches];
        for (var i = 0; i < launches; i++)
        {
            measured[i] = Measured(Build(Samples(factor, random)));
        }
        return FiguresBuilder.Build(null, measured, Choices.ScenarioEntry("call"), null);
    }

    // A launch's operations, sorted: its factor's, and 5 % more or less by themselves.
    private static uint[] Samples(Func<double, double> factor, MersenneTwister random)
    {
        var typical = factor(random.NextDouble()) * TypicalNs;
        var samples = new uint[Operations];
        for (var i = 0; i < Operations; i++)
            samples[i] = (uint)(typical * (0.95 + (0.1 * random.NextDouble())));
        Array.Sort(samples);
        return samples;
    }

    // A sample of a bucket is the time of all its objects; figures are of one.
    [Fact]
    public void FiguresOfABucketAreOfOneObject()
    {
        const int buckets = 1000, bucket = 50;
        var samples = new uint[buckets];
        Array.Fill(samples, 20_000u);
        var record = Record(buckets * bucket, buckets * 20_000L) with { FloorsAroundNs = [5000, 5000] };
        var figures = LaunchFiguresBuilder.Build(record, Choices.ScenarioEntry("batch"), bucket, null, null, new PlacementsBuilder([]), samples);

        Assert.Equal((400.0, 400.0, 400.0), (figures.P50Ns, figures.MaxNs, figures.MeanNs));
        Assert.Equal(50_000, figures.Operations);
        // By wall time, which is twice the timed regions here; the floor is a round trip of the whole bucket.
        Assert.Equal(1.25e6, figures.OpsPerS);
        Assert.Equal(4, figures.FloorRatio);
    }

    [Fact]
    public void PacedCallsHaveNoRateByMeanLatency()
    {
        var paced = FiguresBuilder.Build(null, [Measured(Launch(5_000, 100))], Choices.ScenarioEntry("paced"), null, overlapping: true);
        Assert.Null(paced.OpsPerSByMeanLatency);
        Assert.NotNull(paced.OpsPerS);
    }

    private static LaunchFigures Launch(int operations, uint each)
    {
        var samples = new uint[operations];
        Array.Fill(samples, each);
        return Build(samples);
    }

    private static LaunchFigures Build(uint[] samples)
    {
        var timed = samples.Sum(s => (long)s);
        return LaunchFiguresBuilder.Build(Record(samples.Length, timed), Choices.ScenarioEntry("call"), 1, null, null, new PlacementsBuilder([]), samples);
    }

    private static LaunchRecord Record(long operations, long timed) => new()
    {
        Cell = 0,
        Round = 0,
        Status = "ok",
        Operations = operations,
        TimedNs = timed,
        ElapsedNs = timed * 2,
        Bytes = operations * 10,
    };

    private static MeasuredLaunch Measured(LaunchFigures figures) =>
        new(Record(figures.Operations, (long)(figures.MeanNs!.Value * figures.Operations)), figures);
}
