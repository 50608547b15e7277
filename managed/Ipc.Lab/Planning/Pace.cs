using Ipc.Lab.Statistics;

namespace Ipc.Lab.Planning;

/// <summary>Keeps a run within its budget: shortens launches as far as they still measure something, and says when no further round fits. Rounds without which
/// no figure would have an interval may overrun it by two minutes: without them the time would have been spent for nothing.</summary>
internal sealed class Pace(Schedule schedule, int launchesPerRound)
{
    /// <summary>Below this a launch measures nothing worth keeping.</summary>
    public const double LeastSeconds = 0.03;

    private const double MostOverrunSeconds = 110;

    /// <summary>Starting two processes, shaking hands and ending them, until launches have shown what it really takes.</summary>
    private const double AssumedOverheadSeconds = 0.2;

    // One cell tells little, the machine of a minute ago tells nothing: some fifty launches count.
    private const double WeightOfOne = 0.02;

    private double _overheadSeconds = AssumedOverheadSeconds;

    /// <summary>Rounds from this one on that fit into what is left; the first round always runs.</summary>
    public int RoundsThatFit(int round, double elapsedSeconds)
    {
        var rounds = schedule.Launches - round;
        if (schedule.BudgetSeconds is not { } budget)
            return rounds;
        while (rounds > 0 && rounds * launchesPerRound * (_overheadSeconds + (2 * LeastSeconds)) > budget + OverrunFor(round + rounds) - elapsedSeconds)
            rounds--;
        return round == 0 ? Math.Max(1, rounds) : rounds;
    }

    /// <summary>The times of the next of so many launches that are still to come.</summary>
    public LaunchTiming Next(int launchesLeft, double elapsedSeconds)
    {
        if (schedule.BudgetSeconds is not { } budget)
            return new LaunchTiming(schedule.WarmupSeconds, schedule.Seconds) { Settles = !schedule.ChecksOnly };
        var room = ((budget - elapsedSeconds) / launchesLeft) - _overheadSeconds;
        var share = Math.Min(1, room / (schedule.WarmupSeconds + schedule.Seconds));
        return new LaunchTiming(Shortened(schedule.WarmupSeconds, share), Shortened(schedule.Seconds, share)) { Settles = !schedule.ChecksOnly };
    }

    private static double OverrunFor(int rounds) => rounds <= MedianInterval.LeastLaunches ? MostOverrunSeconds : 0;

    /// <summary>Whether one more launch fits into what is left, for a cell that has too few.</summary>
    public bool HasRoomForAnother(double elapsedSeconds) =>
        schedule.BudgetSeconds is not { } budget || elapsedSeconds + _overheadSeconds + (2 * LeastSeconds) <= budget + MostOverrunSeconds;

    /// <summary>Learns from a launch: how long it took, and what of it it was told to take.</summary>
    public void Learn(double tookSeconds, LaunchTiming told) =>
        _overheadSeconds += WeightOfOne * (tookSeconds - told.WarmupSeconds - told.Seconds - _overheadSeconds);

    /// <summary>What so many launches of this timing will take, in seconds.</summary>
    public double Remaining(LaunchTiming timing, int launchesLeft) =>
        launchesLeft * (_overheadSeconds + timing.WarmupSeconds + timing.Seconds);

    private static double Shortened(double planned, double share) => Math.Max(LeastSeconds, Math.Round(planned * share, 3));
}
