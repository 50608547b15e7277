using System.Collections.Concurrent;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One thread of the process waits for all descriptors that asynchronous operations wait for. It begins with the first of them and ends
/// some seconds after the last is gone; it is a background thread.</summary>
/// <remarks>Edge-triggered: a channel is added once, and waiting again costs no system call. The table holds targets, not channels: a target that is
/// waited for by nobody keeps no channel alive.</remarks>
[SupportedOSPlatform("linux")]
internal static class EpollThread
{
    private const int MostEvents = 128;

    private static readonly Lock s_lock = new(); // guards the thread's beginning and end, and the coming of targets, which it must not miss
    private static readonly ConcurrentDictionary<long, IReadyTarget> s_targets = new();
    private static Descriptor? s_epoll;
    private static long s_lastId;
    private static bool s_running;

    /// <summary>How long the thread waits for another target after the last one is gone; for tests to change.</summary>
    internal static int IdleMilliseconds { get; set; } = 10_000;

    /// <summary>Waits for events on a descriptor from now on; what is there already is told, too. The number that Change and Remove need.
    /// Throws when the system refuses.</summary>
    public static long Add(Descriptor descriptor, uint events, IReadyTarget target)
    {
        Descriptor epoll;
        long id;
        lock (s_lock)
        {
            epoll = s_epoll ??= Libc.CreateEpoll();
            if (!s_running)
            {
                LibraryThread.Start(new Thread(Wait) { IsBackground = true, Name = "ipc readiness" }, "that waits for channels");
                s_running = true;
            }
            id = ++s_lastId;
            s_targets[id] = target;
        }
        var added = false;
        try
        {
            added = Libc.EpollControl(epoll, Libc.EPOLL_CTL_ADD, descriptor, events | Libc.EPOLLET, id);
            return added ? id : throw Libc.Failure(IpcStatus.System, "cannot wait for a channel", Libc.LastError);
        }
        finally
        {
            // The descriptor may be closed already, which throws.
            if (!added)
                s_targets.TryRemove(id, out _);
        }
    }

    /// <summary>Other events from now on; what is there already is told.</summary>
    public static void Change(long id, Descriptor descriptor, uint events) =>
        _ = Libc.EpollControl(s_epoll!, Libc.EPOLL_CTL_MOD, descriptor, events | Libc.EPOLLET, id);

    /// <summary>Nothing is told any more, but what is being told now. The descriptor may be closed already; then null will do.</summary>
    public static void Remove(long id, Descriptor? descriptor)
    {
        s_targets.TryRemove(id, out _);
        try
        {
            if (descriptor is not null)
                _ = Libc.EpollControl(s_epoll!, Libc.EPOLL_CTL_DEL, descriptor, 0, 0);
        }
        catch (ObjectDisposedException)
        {
            // The system forgets what is closed.
        }
    }

    private static void Wait()
    {
        Span<(uint Events, long Id)> events = stackalloc (uint, long)[MostEvents];
        while (true)
        {
            var count = Libc.EpollWait(s_epoll!, events, IdleMilliseconds);
            for (var i = 0; i < count; i++)
            {
                if (s_targets.TryGetValue(events[i].Id, out var target))
                    target.Ready(events[i].Events);
            }
            if (count == 0 && HasEnded())
                return;
        }
    }

    private static bool HasEnded()
    {
        lock (s_lock)
        {
            s_running = !s_targets.IsEmpty;
            return !s_running;
        }
    }
}
