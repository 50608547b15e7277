using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A word that on Windows an event stands for: one of the threads on which .NET waits tells when that is set.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class EventWord(uint* word) : ParkedWord(word)
{
    private Win32Handle? _toSleeper;
    private EventWait? _wait;

    protected override bool TryPrepare()
    {
        // By the half's own operation, one at a time. Not before its first wait: until then a thread may sleep on the event itself.
        if (_wait is not null)
            return true;
        var wakeUps = SleepingPlaces.BeginRelay(Word, _toSleeper ??= Win32.CreateAutoResetEvent());
        _wait = new EventWait(wakeUps, Cleared, (Waiting, _toSleeper), once: false);
        return true;
    }

    // The event lets only one waiter go, which from the first wait on is this one: a wake-up for a thread that sleeps is passed on.
    private static void Cleared(object? state)
    {
        var (parked, toSleeper) = ((WaitingOperation, Win32Handle))state!;
        if (parked.Take() is { } operation)
            operation.Wake();
        else
            Win32.SetOrReset(toSleeper, set: true);
    }

    public override void Dispose()
    {
        _wait?.Dispose();
        _toSleeper?.Dispose();
    }
}
