namespace Ipc;

internal sealed partial class SharedMemoryListener
{
    public override async ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (true)
        {
            if (welcome(new PipePeer(await listener.AcceptAsync(cancellationToken).ConfigureAwait(false), Address)) is { } channel)
                return channel;
        }
    }
}
