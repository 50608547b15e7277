using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Accepts clients on a named pipe and makes channels through shared memory of them.</summary>
/// <param name="address">Where it listens.</param>
/// <param name="listener">Owned.</param>
/// <param name="welcome">Makes a channel of a client, whom it then owns; null when the client is gone again.</param>
[SupportedOSPlatform("windows")]
internal sealed partial class SharedMemoryListener(IpcAddress address, LocalPipeListener listener, Func<SharedMemoryPeer, IpcChannel?> welcome) : IpcListener
{
    public override string Address { get; } = address.ToString();

    public override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        while (true)
        {
            if (welcome(new PipePeer(listener.Accept(deadline), Address)) is { } channel)
                return channel;
        }
    }

    public override void Close() => listener.Close();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            listener.Close();
    }
}
