namespace Ipc;

/// <summary>Pauses of a listener while the system is short of something: 10 ms, doubling up to a second.</summary>
internal struct AcceptBackoff()
{
    private int _pauseMilliseconds = 10;

    /// <summary>False when the deadline has passed. Ends early once the listener is closed.</summary>
    public bool Wait(ManualResetEventSlim closing, Deadline deadline)
    {
        closing.Wait(deadline.SliceMilliseconds(_pauseMilliseconds));
        _pauseMilliseconds = Math.Min(2 * _pauseMilliseconds, 1000);
        return !deadline.Expired;
    }
}

/// <summary>How long a wait may go on that has something to do whenever it looks: beyond its deadline only to pass over what is already
/// there, and that not for long.</summary>
internal struct AcceptPatience(Deadline deadline)
{
    private const int BeyondMilliseconds = 10;
    private Deadline? _beyond; // begins when it is first asked

    public bool IsOver
    {
        get
        {
            if (!deadline.Expired)
                return false;
            _beyond ??= new Deadline(BeyondMilliseconds);
            return _beyond.Value.Expired;
        }
    }
}
