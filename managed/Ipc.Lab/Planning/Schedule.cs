namespace Ipc.Lab.Planning;

/// <summary>How often and how long cells are launched. Times are seconds.</summary>
/// <param name="Launches">Rounds; every round launches every cell once.</param>
/// <param name="WarmupSeconds">Least warm-up of a launch.</param>
/// <param name="Seconds">Measured time of a launch, unless the cell has a count.</param>
/// <param name="FloorSeconds">Time for each floor in each round.</param>
/// <param name="BudgetSeconds">The whole run's time, kept by shortening launches and, at last, leaving out rounds; null for none.</param>
internal sealed record Schedule(int Launches, double WarmupSeconds, double Seconds, double FloorSeconds, double? BudgetSeconds);

/// <summary>The times of one launch in seconds.</summary>
internal sealed record LaunchTiming(double WarmupSeconds, double Seconds);
