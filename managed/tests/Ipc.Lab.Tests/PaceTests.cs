using Ipc.Lab.Planning;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class PaceTests
{
    private static readonly Schedule s_quick = Presets.Get("quick").Schedule;
    private static readonly int s_cells = Presets.Get("quick").Cells().Count;

    /// <summary>Plays a run on a machine on which starting and ending two peers takes so long; the time it takes and the launches of each cell.</summary>
    private static (double Seconds, int Rounds) Play(Func<double, double> overheadAt)
    {
        var pace = new Pace(s_quick, s_cells);
        double elapsed = 0;
        for (var round = 0; round < s_quick.Launches; round++)
        {
            var rounds = pace.RoundsThatFit(round, elapsed);
            if (rounds == 0)
                return (elapsed, round);
            for (var left = rounds * s_cells; left > (rounds - 1) * s_cells; left--)
            {
                var timing = pace.Next(left, elapsed);
                var took = overheadAt(elapsed) + timing.WarmupSeconds + timing.Seconds;
                elapsed += took;
                pace.Learn(took, timing);
            }
        }
        return (elapsed, s_quick.Launches);
    }

    [Theory]
    [InlineData(0.05, 6, 240)]
    [InlineData(0.30, 6, 240)]
    [InlineData(1.00, 6, 240)]
    // Six launches are worth two minutes more, because fewer have no intervals; not any time.
    [InlineData(1.60, 6, 340)]
    [InlineData(4.00, 2, 340)]
    public void QuickTakesFourMinutesUnlessPeersStartSlowly(double overhead, int rounds, double most)
    {
        var (seconds, done) = Play(_ => overhead);

        Assert.InRange(seconds, 0, most);
        Assert.Equal(rounds, done);
    }

    [Fact]
    public void QuickStaysInTimeWhenTheMachineGetsBusyHalfWay() =>
        Assert.InRange(Play(elapsed => elapsed < 110 ? 0.12 : 0.3).Seconds, 0, 240);

    [Fact]
    public void LaunchesAreNeverLongerThanPlanned() =>
        Assert.Equal(new LaunchTiming(s_quick.WarmupSeconds, s_quick.Seconds), new Pace(s_quick, 2).Next(6, 0));

    [Fact]
    public void WithoutABudgetEveryRoundRunsAsPlanned()
    {
        var pace = new Pace(s_quick with { BudgetSeconds = null }, s_cells);

        Assert.Equal(s_quick.Launches - 2, pace.RoundsThatFit(2, 1e6));
        Assert.Equal(s_quick.Seconds, pace.Next(100, 1e6).Seconds);
    }
}
