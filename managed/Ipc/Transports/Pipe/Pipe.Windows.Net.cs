namespace Ipc;

internal sealed partial class PipeListener
{
    public override async ValueTask<IpcChannel> AcceptAsync(CancellationToken cancellationToken = default) =>
        ChannelOf(await listener.AcceptAsync(cancellationToken).ConfigureAwait(false));
}
