namespace Ipc.Lab.Planning;

/// <summary>Keeps a run within its budget: before each round it shortens that round's launches, or says that no further round fits.</summary>
/// <remarks>All cells of a round get the same times, so that cells stay comparable.</remarks>
internal sealed class Pace(Schedule schedule, int launchesPerRound)
{
    /// <summary>Below this a launch measures nothing worth keeping.</summary>
    public const double LeastSeconds = 0.03;

    /// <summary>Starting two processes, shaking hands and ending them; replaced by what the first round shows.</summary>
    private const double AssumedOverheadSeconds = 0.25;

    private double? _measuredOverhead;

    /// <summary>What a launch takes beside warm-up and measurement, in seconds.</summary>
    public double OverheadSeconds => _measuredOverhead ?? AssumedOverheadSeconds;

    /// <summary>The times for a round's launches, or null when no round fits into what is left. The first round always runs.</summary>
    public LaunchTiming? For(int round, double elapsedSeconds)
    {
        var planned = new LaunchTiming(schedule.WarmupSeconds, schedule.Seconds);
        if (schedule.BudgetSeconds is not { } budget || launchesPerRound == 0)
            return planned;
        var room = RoomPerLaunch(budget - elapsedSeconds, schedule.Launches - round);
        // Fewer rounds of at least the least length come before many of nothing.
        for (var rounds = schedule.Launches - round; room < 2 * LeastSeconds && rounds > 1; rounds--)
            room = RoomPerLaunch(budget - elapsedSeconds, rounds - 1);
        if (room < 2 * LeastSeconds)
            return round == 0 ? new LaunchTiming(LeastSeconds, LeastSeconds) : null;
        var share = Math.Min(1, room / (planned.WarmupSeconds + planned.Seconds));
        return new LaunchTiming(
            Math.Max(LeastSeconds, planned.WarmupSeconds * share), Math.Max(LeastSeconds, planned.Seconds * share));
    }

    /// <summary>Learns from launches done: how long they took on average, and what of it they were told to take.</summary>
    public void Learn(double averageSeconds, LaunchTiming told) =>
        _measuredOverhead = Math.Max(0, averageSeconds - told.WarmupSeconds - told.Seconds);

    /// <summary>What is still ahead, in seconds: the launches left of this round, and the rounds after it.</summary>
    public double Remaining(LaunchTiming timing, int launchesLeftInRound, int roundsAfter) =>
        (launchesLeftInRound + (double)roundsAfter * launchesPerRound) * (OverheadSeconds + timing.WarmupSeconds + timing.Seconds);

    private double RoomPerLaunch(double secondsLeft, int rounds) => secondsLeft / rounds / launchesPerRound - OverheadSeconds;
}
