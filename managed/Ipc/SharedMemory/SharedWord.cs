namespace Ipc;

/// <summary>Sleeping on a word of memory that other processes map, and waking who sleeps there: the futex of Linux, and on Windows the
/// kernel object that stands for the word (<see cref="SleepingPlaces"/>).</summary>
internal static unsafe class SharedWord
{
    /// <summary>Sleeps while the word is <paramref name="value"/>, until woken or for no reason, at most so long. False after the whole
    /// time.</summary>
    public static bool SleepOn(uint* word, uint value, int milliseconds)
    {
        if (OperatingSystem.IsLinux())
            return Libc.SleepOn(word, value, milliseconds);
        if (OperatingSystem.IsWindows())
            return SleepingPlaces.SleepOn(word, value, milliseconds);
        throw new PlatformNotSupportedException();
    }

    /// <summary>Wakes everybody who sleeps on the word.</summary>
    public static void WakeAll(uint* word)
    {
        if (OperatingSystem.IsLinux())
            Libc.WakeAll(word);
        else if (OperatingSystem.IsWindows())
            SleepingPlaces.Wake(word, all: true);
    }

    /// <summary>Wakes one who sleeps on the word; 0 if nobody did, as far as the system can tell.</summary>
    public static int WakeOne(uint* word)
    {
        if (OperatingSystem.IsLinux())
            return Libc.Wake(word, 1);
        return OperatingSystem.IsWindows() ? SleepingPlaces.Wake(word, all: false) : 0;
    }

    /// <summary>Lets others run on this processor.</summary>
    public static void YieldProcessor()
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.Yield();
        else
            Thread.Yield();
    }
}
