using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Room to send in a socket: an event that the system sets when a send has found none and there is some again. It stays set until the next
/// send.</summary>
[SupportedOSPlatform("windows")]
internal sealed class SocketRoom(Win32Handle room) : Readiness, IDisposable
{
    private readonly WaitingOperation _waiting = new();
    private EventWait? _wait;

    public override bool Arm(ChannelOperation operation)
    {
        var channel = (FramedChannel)operation.Channel;
        if (!channel.TryEnterBeside())
            return true;
        _waiting.Set(operation);
        _wait?.Dispose();
        _wait = new EventWait(room, WaitingOperation.Wake, _waiting, once: true);
        channel.LeaveBeside();
        // Of what came since the attempt the event tells.
        return false;
    }

    public override void Disarm(ChannelOperation operation) => _waiting.Take();

    /// <summary>Nobody sends any more.</summary>
    public void Dispose() => _wait?.Dispose();
}
