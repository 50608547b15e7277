namespace Ipc.Native;

public sealed partial class NativeIpc
{
    /// <summary>As <see cref="Connect"/>, on a thread of the pool, which is free again when the server has accepted.</summary>
    /// <param name="address">Where the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once; a connection that comes about nevertheless is closed.</param>
    /// <exception cref="IpcException">As <see cref="Connect"/>: <see cref="IpcStatus.NoServer"/> comes at once when nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) =>
        Connecting.Begin(Connect, address, cancellationToken);
}
