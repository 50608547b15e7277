using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The moment a blocking call must give up, made once from its time-out in milliseconds. Forever and "do not wait"
/// never read the clock.</summary>
internal readonly struct Deadline
{
    private const long Never = long.MaxValue;
    private const long Now = long.MinValue;
    private static readonly long s_ticksPerMillisecond = Stopwatch.Frequency / 1000;

    private readonly long _end;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Deadline(int timeoutMilliseconds) =>
        _end = timeoutMilliseconds switch
        {
            < 0 => Never,
            0 => Now,
            _ => Stopwatch.GetTimestamp() + (timeoutMilliseconds * s_ticksPerMillisecond),
        };

    public bool Forever => _end == Never;

    /// <summary>A time-out of 0: look once, do not wait.</summary>
    public bool IsNow => _end == Now;

    /// <summary>Whether the deadline has passed at <paramref name="timestamp"/>, a reading of <see cref="Stopwatch"/>.</summary>
    public bool HasPassed(long timestamp) => timestamp >= _end && _end != Never;

    public bool Expired => _end != Never && (_end == Now || Stopwatch.GetTimestamp() >= _end);

    /// <summary>Milliseconds left, rounded up; 0 when none are left, -1 when there is no end.</summary>
    public int LeftMilliseconds
    {
        get
        {
            if (_end == Never)
                return -1;
            if (_end == Now)
                return 0;
            var ticks = _end - Stopwatch.GetTimestamp();
            return ticks <= 0 ? 0 : (int)((ticks + s_ticksPerMillisecond - 1) / s_ticksPerMillisecond);
        }
    }

    /// <summary>Milliseconds to sleep before looking around again: what is left, at most <paramref name="slice"/>.</summary>
    public int SliceMilliseconds(int slice)
    {
        var left = LeftMilliseconds;
        return left < 0 || left > slice ? slice : left;
    }

    /// <summary>For a lock that others hold for a moment at a time: who would not wait gives them a few milliseconds nevertheless.</summary>
    public Deadline ForMoments() => LeftMilliseconds is var left && left < 0 ? this : new Deadline(Math.Max(left, 8));

    /// <summary>What refuses a time-out that is none.</summary>
    public static IpcException NotATimeout(int timeoutMilliseconds) =>
        new(IpcStatus.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Timeout.Infinite (-1)");
}
