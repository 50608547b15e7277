using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Room to send in a socket: an event that the system sets when a send has found none and there is some again. It stays set until the next
/// send.</summary>
[SupportedOSPlatform("windows")]
internal sealed class SocketRoom(Win32Handle room) : NamedReadiness, IDisposable
{
    private EventWait? _wait;

    protected override bool Watch(ChannelOperation operation)
    {
        _wait?.Dispose();
        _wait = new EventWait(room, WaitingOperation.Wake, Waiting, once: true);
        // Of what came since the attempt the event tells.
        return false;
    }

    /// <summary>Nobody sends any more.</summary>
    public void Dispose() => _wait?.Dispose();
}
