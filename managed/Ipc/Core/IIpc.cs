namespace Ipc;

/// <summary>Opens channels, queues and broadcasts. Two implement it, call for call: <see cref="ManagedIpc.Instance"/> in pure .NET and
/// <c>Ipc.Native.NativeIpc.Instance</c> over the C ABI; so which one a program uses is an argument.</summary>
public partial interface IIpc
{
    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    IpcListener Listen(string address);

    /// <summary>Connects. <see cref="IpcStatus.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Opens the queue of this name (transports of kind "queue"), making it if there is none.</summary>
    IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Removes a queue's name and what waits under it; who has it open goes on with the nameless rest.
    /// <see cref="IpcStatus.NoServer"/> if there is none.</summary>
    void RemoveQueue(string address);

    /// <summary>Takes the name of a broadcast (transports of kind "broadcast"); <see cref="IpcStatus.NameInUse"/> while another has it.</summary>
    Publisher Publish(string address);

    /// <summary>Joins a broadcast: what is published from now on arrives.</summary>
    Subscriber Subscribe(string address, int timeoutMilliseconds = Timeout.Infinite);
}
