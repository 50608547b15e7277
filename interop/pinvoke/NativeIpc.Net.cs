namespace Ipc.Native;

public sealed unsafe partial class NativeIpc
{
    /// <summary>The <c>ipc_channel*</c> of a channel, for native code in the same process. It is valid until the channel is disposed, which does not wait for
    /// native code that uses it.</summary>
    /// <param name="channel">A channel that was connected or accepted by this class.</param>
    /// <returns>The pointer.</returns>
    /// <exception cref="ArgumentNullException">The channel is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/>: the channel is pure .NET and has no native one.</exception>
    public static nint HandleOf(IpcChannel channel)
    {
        ArgumentNullException.ThrowIfNull(channel);
        return (nint)Bound(channel).Handle;
    }

    /// <summary>Answers the calls of a channel with a native handler, an <c>ipc_handler</c> of ipc.h, until the client closes. No .NET code runs in
    /// between.</summary>
    /// <param name="channel">A channel that was accepted by a listener of this class.</param>
    /// <param name="handler">Receives <paramref name="user"/>, the request, its length and the <c>ipc_reply_writer*</c>, and returns an
    /// <c>ipc_status</c>.</param>
    /// <param name="user">A pointer for the handler.</param>
    /// <exception cref="ArgumentNullException">The channel or the handler is null.</exception>
    /// <exception cref="IpcException">Why the channel ended; <see cref="IpcStatus.InvalidArgument"/>: the channel is pure .NET.</exception>
    public static void Serve(IpcChannel channel, delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int> handler, void* user = null)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(handler);
        Bound(channel).ServeNative(handler, user);
    }

    private static BoundChannel Bound(IpcChannel channel) => channel as BoundChannel
        ?? throw new IpcException(IpcStatus.InvalidArgument, "this channel is pure .NET: native code can use one that NativeIpc has connected or accepted");

    /// <summary>Connects to a server, on a thread of the library's that waits until the server has accepted.</summary>
    /// <param name="address">The address at which the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once. A connection that is established all the same is closed.</param>
    /// <returns>The connection, which the caller disposes.</returns>
    /// <exception cref="IpcException">As for <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/>, at once, if nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) =>
        Connecting.Begin(Connect, address, cancellationToken);
}
