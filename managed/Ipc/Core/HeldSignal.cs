using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Holds back a signal that a system call sends to its own thread, such as SIGXFSZ from making a file larger, whose default is to end the
/// process (the twin of native/src/posix/held_signal.hpp; SIGPIPE is ignored by the runtime).</summary>
[SupportedOSPlatform("linux")]
internal unsafe ref struct HeldSignal
{
    public const int FileSizeExceeded = 25; // SIGXFSZ

    private const int SetWords = 16; // sigset_t of 64-bit Linux
    private const int Block = 0, SetMask = 2;

    private fixed ulong _before[SetWords];
    private readonly int _signal;
    // A signal that the program itself keeps blocked and pending is not ours to take away.
    private readonly bool _wasBlocked;
    private readonly bool _wasPending;

    public HeldSignal(int signal)
    {
        _signal = signal;
        var held = stackalloc ulong[SetWords];
        Fill(held, signal);
        fixed (ulong* before = _before)
        {
            _ = Libc.SetSignals(Block, held, before);
            _wasBlocked = Has(before, signal);
        }
        if (!_wasBlocked)
            return;
        var pending = stackalloc ulong[SetWords];
        _ = Libc.PendingSignals(pending);
        _wasPending = Has(pending, signal);
    }

    /// <summary>Said after a call that failed in this way: takes the signal away again.</summary>
    public readonly void WasRaised()
    {
        if (_wasPending)
            return;
        var held = stackalloc ulong[SetWords];
        Fill(held, _signal);
        var now = stackalloc long[2] { 0, 0 };
        while (Libc.WaitForSignal(held, null, now) < 0 && Libc.LastError == Libc.EINTR)
        {
        }
    }

    public void Dispose()
    {
        fixed (ulong* before = _before)
        {
            if (!_wasBlocked)
                _ = Libc.SetSignals(SetMask, before, null);
        }
    }

    private static void Fill(ulong* set, int signal)
    {
        for (var i = 0; i < SetWords; i++)
            set[i] = 0;
        set[(signal - 1) / 64] = 1UL << ((signal - 1) % 64);
    }

    private static bool Has(ulong* set, int signal) => (set[(signal - 1) / 64] >> ((signal - 1) % 64) & 1) != 0;
}
