namespace Ipc;

/// <summary>When a look that costs a system call is due again, for callers that come at any rate. Its clock counts in steps of some
/// milliseconds and costs some nanoseconds; two threads at once at worst look twice.</summary>
internal struct SpinTimer
{
    private const long IntervalMilliseconds = 200;

    private long _last;

    /// <summary>Whether the last look was some time ago; it then counts as done now.</summary>
    public bool IsDue()
    {
        if (!HasPassed())
            return false;
        Volatile.Write(ref _last, Environment.TickCount64);
        return true;
    }

    /// <summary>The same without counting it as done.</summary>
    public bool HasPassed() => Environment.TickCount64 - Volatile.Read(ref _last) >= IntervalMilliseconds;
}
