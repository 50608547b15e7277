namespace Ipc;

/// <summary>Opens channels, queues and broadcasts. There are two implementations with the same behaviour: <see cref="ManagedIpc.Instance"/> in pure .NET
/// and <c>Ipc.Native.NativeIpc.Instance</c> over the C library. Pass one as an argument to choose.</summary>
/// <remarks>Any thread may call any member.</remarks>
public partial interface IIpc
{
    /// <summary>Listens for clients at an address.</summary>
    /// <param name="address">The address, for example <c>shm://prices?wait=spin</c>; see docs/addresses.md.</param>
    /// <returns>The listener, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.BadAddress"/>, <see cref="IpcStatus.UnknownTransport"/>, <see cref="IpcStatus.BadOption"/>,
    /// <see cref="IpcStatus.NameInUse"/>, <see cref="IpcStatus.NoPermission"/>, <see cref="IpcStatus.NotAvailable"/>; <see cref="IpcStatus.WrongState"/> if
    /// the transport has no channels.</exception>
    IpcListener Listen(string address);

    /// <summary>Connects to a server.</summary>
    /// <param name="address">The address at which the server listens.</param>
    /// <param name="timeoutMilliseconds">The longest wait for a server that listens but does not accept, in milliseconds.</param>
    /// <returns>The connection, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.NoServer"/>, at once, if nobody listens; <see cref="IpcStatus.TimedOut"/>,
    /// <see cref="IpcStatus.NoPermission"/> if the server belongs to another user; otherwise as for <see cref="Listen"/>.</exception>
    IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Opens a named queue (transports of kind "queue") and creates it if it does not exist.</summary>
    /// <param name="address">The address of the queue, for example <c>queue://orders?size=1M</c>.</param>
    /// <param name="timeoutMilliseconds">The longest wait for another process that is creating the queue, in milliseconds.</param>
    /// <returns>A handle to the queue, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException">As for <see cref="Listen"/>; <see cref="IpcStatus.TimedOut"/>; <see cref="IpcStatus.NotOurProtocol"/> if the file of
    /// this name is no queue, or one of another version.</exception>
    IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Removes the name of a queue, and the messages in it. Processes that have the queue open can go on using it, now without a name.</summary>
    /// <param name="address">The address of the queue.</param>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.NoServer"/> if there is no queue of this name; otherwise as for <see cref="Listen"/>.</exception>
    void RemoveQueue(string address);

    /// <summary>Starts a broadcast (transports of kind "broadcast").</summary>
    /// <param name="address">The address of the broadcast.</param>
    /// <returns>The publisher, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.NameInUse"/> while another publisher has the name; otherwise as for
    /// <see cref="Listen"/>.</exception>
    Publisher Publish(string address);

    /// <summary>Joins a broadcast. What is published from now on will be received.</summary>
    /// <param name="address">The address of the broadcast.</param>
    /// <param name="timeoutMilliseconds">The longest wait for the publisher's answer, in milliseconds.</param>
    /// <returns>The subscriber, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.NoServer"/>, at once, if nobody publishes; otherwise as for
    /// <see cref="Connect(string, int)"/>.</exception>
    Subscriber Subscribe(string address, int timeoutMilliseconds = Timeout.Infinite);
}
