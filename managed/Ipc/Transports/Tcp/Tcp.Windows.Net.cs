namespace Ipc;

internal sealed partial class WindowsTcpListener
{
    public override async ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (TryAccept() is not { } client)
                await EventTask.WhenAny([_closing, _came], cancellationToken).ConfigureAwait(false);
            else if (Welcome(client) is { } channel)
                return channel;
        }
    }
}
