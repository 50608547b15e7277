using System.Globalization;
using System.Text.Json.Serialization;

namespace Ipc.Lab.Planning;

/// <summary>How often and how long cells are launched. Times are seconds.</summary>
/// <param name="Launches">Rounds; every round launches every cell once.</param>
/// <param name="WarmupSeconds">Least warm-up of a launch.</param>
/// <param name="Seconds">Measured time of a launch, unless the cell has a count.</param>
/// <param name="BudgetSeconds">The whole run's time, kept by shortening launches and, at last, leaving out rounds; null for none.</param>
internal sealed record Schedule(int Launches, double WarmupSeconds, double Seconds, double? BudgetSeconds)
{
    /// <summary>Every exchange is checked and no speed is measured (`--check`): launches do not wait until processes settle, none is repeated, and
    /// there are no floors.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool ChecksOnly { get; init; }

    /// <summary>Floors are measured as the cells are, because a virtual processor wakes up faster in its first tenths of a second
    /// of work than later; after half a second nothing changes any more.</summary>
    public LaunchTiming FloorTiming => new(WarmupSeconds, Math.Min(Seconds, 0.5));

    /// <summary>Those right before and right after a launch: as short as they stay true, because every launch pays for four of them.</summary>
    public static LaunchTiming FloorAroundTiming { get; } = new(0.01, 0.02);
}

/// <summary>The times of one launch in seconds.</summary>
internal sealed record LaunchTiming(double WarmupSeconds, double Seconds)
{
    // A managed process that is not helped by a second processor compiles for more than a second.
    private const double LeastSettleSeconds = 2;
    private const double TimesTheWarmup = 5;
    // Enough for a median.
    private const double LeastPacedCalls = 5;

    /// <summary>The same for a workload at whose rate too few calls fall into so short a time.</summary>
    public LaunchTiming For(WorkloadEntry workload) =>
        workload.Rate > 0 ? this with { Seconds = Math.Max(Seconds, LeastPacedCalls / workload.Rate) } : this;

    /// <summary>Whether a warm-up goes on until processes settle, as times that are to be believed need.</summary>
    [JsonIgnore]
    public bool Settles { get; init; } = true;

    /// <summary>How long a warm-up may take when the process does not settle.</summary>
    [JsonIgnore]
    public double SettleSeconds => Settles ? Math.Max(LeastSettleSeconds, TimesTheWarmup * WarmupSeconds) : WarmupSeconds;

    /// <summary>Refuses a time that the user stated with this option and that no launch can have; null is none stated.</summary>
    public static void Check(string option, double? stated)
    {
        // Written so that NaN is refused too.
        if (stated is { } seconds && !(seconds is >= 0.01 and <= 3600))
            throw new UserMistakeException($"{option} {seconds.ToString(CultureInfo.InvariantCulture)} is not between 0.01 and 3600");
    }
}
