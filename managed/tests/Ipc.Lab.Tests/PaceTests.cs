using Ipc.Lab.Planning;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class PaceTests
{
    private static readonly Schedule s_quick = Presets.Get("quick").Schedule;
    private static readonly int s_cells = Presets.Get("quick").Cells().Count;

    /// <summary>Plays a run on a machine on which starting and ending two peers takes so long; the time it takes and the launches of each cell.</summary>
    private static (double Seconds, int Rounds) Play(double overhead)
    {
        var pace = new Pace(s_quick, s_cells);
        double elapsed = 0;
        for (var round = 0; round < s_quick.Launches; round++)
        {
            if (pace.For(round, elapsed) is not { } timing)
                return (elapsed, round);
            var launch = overhead + timing.WarmupSeconds + timing.Seconds;
            elapsed += s_cells * launch;
            pace.Learn(launch, timing);
        }
        return (elapsed, s_quick.Launches);
    }

    [Theory]
    [InlineData(0.05, 3)]
    [InlineData(0.15, 3)]
    [InlineData(0.25, 3)]
    [InlineData(0.28, 3)]
    [InlineData(0.45, 2)]
    [InlineData(0.90, 1)]
    public void QuickTakesAtMostFourMinutesHoweverSlowPeersStart(double overhead, int rounds)
    {
        var (seconds, done) = Play(overhead);

        Assert.InRange(seconds, 0, 240);
        Assert.Equal(rounds, done);
    }

    [Fact]
    public void LaunchesAreNeverLongerThanPlanned() =>
        Assert.Equal(new LaunchTiming(s_quick.WarmupSeconds, s_quick.Seconds), new Pace(s_quick, 2).For(0, 0));

    [Fact]
    public void WithoutABudgetEveryRoundRunsAsPlanned()
    {
        var pace = new Pace(s_quick with { BudgetSeconds = null }, s_cells);

        Assert.Equal(s_quick.Seconds, pace.For(2, 1e6)!.Seconds);
    }
}
