using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Waiting for many descriptors, and for many words of memory, in one system call each.</summary>
internal static unsafe partial class Libc
{
    public const uint EPOLLIN = 1, EPOLLOUT = 4, EPOLLERR = 8, EPOLLHUP = 0x10, EPOLLRDHUP = 0x2000, EPOLLET = 0x80000000;
    public const int EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL = 2, EPOLL_CTL_MOD = 3;
    public const int ENOSYS = 38;

    private const int EpollCloseOnExec = 0x80000;
    private const nint FutexWaitMany = 449; // the same number on every architecture
    private const uint FutexOfFourBytes = 2;
    private const int MonotonicClock = 1;

    // struct epoll_event is packed on x86-64 and nowhere else.
    private static readonly int s_eventBytes = Arm ? 16 : 12;
    private static readonly int s_eventData = Arm ? 8 : 4;

    /// <summary>struct futex_waitv: sleeps on Word while it holds Value.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct FutexWaiter(uint* word, uint value)
    {
        public ulong Value = value;
        public ulong Word = (ulong)word;
        public uint Flags = FutexOfFourBytes;
        public uint Reserved;
    }

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    private static partial int EpollCreate(int flags);
    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    private static partial int EpollControl(Descriptor epoll, int operation, Descriptor file, byte* entry);
    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    private static partial int EpollWait(Descriptor epoll, byte* entries, int most, int timeoutMilliseconds);
    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    private static partial nint WaitForWords(nint number, FutexWaiter* waiters, nuint count, nuint flags, TimeValue* end, nint clock);

    /// <summary>An empty set of descriptors to wait for; throws.</summary>
    public static Descriptor CreateEpoll()
    {
        var descriptor = EpollCreate(EpollCloseOnExec);
        return descriptor >= 0 ? new Descriptor(descriptor) : throw Failure(IpcStatus.System, "cannot wait for several channels at once");
    }

    /// <summary>Adds, changes or removes a descriptor. False with <see cref="LastError"/> set.</summary>
    public static bool EpollControl(Descriptor epoll, int operation, Descriptor file, uint events, long id)
    {
        var entry = stackalloc byte[s_eventBytes];
        *(uint*)entry = events;
        Buffer.MemoryCopy(&id, entry + s_eventData, sizeof(long), sizeof(long));
        return EpollControl(epoll, operation, file, entry) == 0;
    }

    /// <summary>Waits for events; how many came, at most one for each place in <paramref name="events"/>. Negative after a failure.</summary>
    public static int EpollWait(Descriptor epoll, Span<(uint Events, long Id)> events, int timeoutMilliseconds)
    {
        var entries = stackalloc byte[s_eventBytes * events.Length];
        var count = EpollWait(epoll, entries, events.Length, timeoutMilliseconds);
        for (var i = 0; i < count; i++, entries += s_eventBytes)
        {
            long id;
            Buffer.MemoryCopy(entries + s_eventData, &id, sizeof(long), sizeof(long));
            events[i] = (*(uint*)entries, id);
        }
        return count;
    }

    /// <summary>Sleeps while every word holds its value, until one is woken or the time is over, given in nanoseconds of the monotonic clock.
    /// 0 or more: one was woken; negative with <see cref="LastError"/> set otherwise.</summary>
    public static nint SleepOnMany(ReadOnlySpan<FutexWaiter> waiters, long endNanoseconds)
    {
        var end = new TimeValue { Seconds = endNanoseconds / 1_000_000_000, Fraction = endNanoseconds % 1_000_000_000 };
        fixed (FutexWaiter* all = waiters)
            return WaitForWords(FutexWaitMany, all, (nuint)waiters.Length, 0, &end, MonotonicClock);
    }
}
