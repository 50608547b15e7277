namespace Ipc.Peer;

/// <summary>Gives the times at which something is due, so many a second, and waits for them: asleep as long as the system wakes punctually, then
/// spinning.</summary>
/// <param name="rate">A second, above 0.</param>
internal sealed class Pacer(double rate)
{
    // Before it is due the thread must be awake: a sleeper is late by 50 to 100 microseconds, and by a clock tick of 15.6 ms on Windows.
    private static readonly long s_awakeBefore = Clock.After(0, OperatingSystem.IsWindows() ? 0.017 : 0.0003);

    private readonly double _ticksBetween = Clock.After(0, 1) / rate;
    private long _begin;
    private long _count;

    /// <summary>Processor time that waiting has taken since <see cref="Begin"/>, in ticks.</summary>
    public long SpunTicks { get; private set; }

    /// <summary>The first is due one interval after this.</summary>
    public void Begin(long ticks) => (_begin, _count, SpunTicks) = (ticks, 0, 0);

    /// <summary>When the next is due, which is not before now, unless that has passed.</summary>
    public long WaitUntilDue()
    {
        var due = _begin + (long)(++_count * _ticksBetween);
        var left = due - Clock.Now;
        if (left <= 0)
            return due;
        var milliseconds = (int)(Clock.ToSeconds(left - s_awakeBefore) * 1000);
        if (milliseconds > 0)
            Thread.Sleep(milliseconds);
        // What others took from this thread meanwhile it has not spent.
        var spent = ResourceUsage.ThreadTicks();
        while (Clock.Now < due)
        {
        }
        SpunTicks += ResourceUsage.ThreadTicks() - spent;
        return due;
    }
}
