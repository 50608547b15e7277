namespace Ipc.Native;

public sealed unsafe partial class NativeIpc
{
    /// <summary>The <c>ipc_channel*</c> (ipc.h) under a channel of this class, for native code in the same process. It is good until the channel is
    /// disposed, which does not wait for native code that uses it.</summary>
    /// <param name="channel">A channel that <see cref="Connect(string, int)"/> or a listener of this class has given.</param>
    /// <exception cref="IpcException"><see cref="IpcStatus.InvalidArgument"/>: the channel is pure .NET, and there is no native one under it.</exception>
    public static nint HandleOf(IpcChannel channel)
    {
        ArgumentNullException.ThrowIfNull(channel);
        return (nint)Bound(channel).Handle;
    }

    /// <summary>Answers the calls of a channel with a native handler, an <c>ipc_handler</c> of ipc.h, until the peer closes (returns) or the channel
    /// fails or is closed here (throws): <c>ipc_serve</c>. No .NET code runs in between.</summary>
    /// <param name="channel">A channel that a listener of this class has accepted.</param>
    /// <param name="handler">Is given <paramref name="user"/>, the request, its length and the <c>ipc_reply_writer*</c>; returns an <c>ipc_status</c>.</param>
    /// <param name="user">What the handler is to know.</param>
    /// <exception cref="IpcException">Why the channel ended; <see cref="IpcStatus.InvalidArgument"/>: the channel is pure .NET.</exception>
    public static void Serve(IpcChannel channel, delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int> handler, void* user = null)
    {
        ArgumentNullException.ThrowIfNull(channel);
        ArgumentNullException.ThrowIfNull(handler);
        Bound(channel).ServeNative(handler, user);
    }

    private static BoundChannel Bound(IpcChannel channel) => channel as BoundChannel
        ?? throw new IpcException(IpcStatus.InvalidArgument, "this channel is pure .NET: native code can use one that NativeIpc has connected or accepted");

    /// <summary>As <see cref="Connect(string, int)"/>, on a thread of the pool, which is free again when the server has accepted.</summary>
    /// <param name="address">Where the server listens.</param>
    /// <param name="cancellationToken">Ends the wait at once; a connection that comes about nevertheless is closed.</param>
    /// <exception cref="IpcException">As <see cref="Connect(string, int)"/>: <see cref="IpcStatus.NoServer"/> comes at once when nobody listens.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public static ValueTask<IpcChannel> ConnectAsync(string address, CancellationToken cancellationToken = default) =>
        Connecting.Begin(Connect, address, cancellationToken);
}
