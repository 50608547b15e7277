using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>Tells when an event of the system's is set, while none of the library's threads waits for it: one of those on which .NET waits does, for 63
/// events each.</summary>
[SupportedOSPlatform("windows")]
internal sealed class EventWait : IDisposable
{
    private readonly CopiedEvent _event;
    private readonly RegisteredWaitHandle? _registration;

    /// <param name="waitedFor">Is copied, so that its owner may close it at any time.</param>
    /// <param name="told">On a thread of the pool. Must not wait, and should not know what is to be collected when it is forgotten: a wait that nobody
    /// knows any more ends.</param>
    /// <param name="state">For that.</param>
    /// <param name="once">The first time only, as for an event that stays set.</param>
    public EventWait(Win32Handle waitedFor, Action<object?> told, object? state, bool once)
    {
        _event = new CopiedEvent(Win32.CopyOwnHandle(waitedFor));
        _registration = ThreadPool.UnsafeRegisterWaitForSingleObject(_event, (of, _) => told(of), state, Timeout.Infinite, once);
    }

    ~EventWait() => End();

    /// <summary>Nothing is told any more, but for what is under way already.</summary>
    public void Dispose()
    {
        End();
        GC.SuppressFinalize(this);
    }

    private void End()
    {
        _registration?.Unregister(null);
        _event?.Dispose();
    }

    /// <summary>The registration keeps it open for as long as it is waited for.</summary>
    private sealed class CopiedEvent : WaitHandle
    {
        public CopiedEvent(nint handle) => SafeWaitHandle = new SafeWaitHandle(handle, ownsHandle: true);
    }
}
