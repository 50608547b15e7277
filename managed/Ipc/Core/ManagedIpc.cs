namespace Ipc;

/// <summary>Opens channels, queues and broadcasts in pure .NET; no native library is loaded. The `bound` twin with the same calls
/// over the C ABI is <c>Ipc.Native.NativeIpc</c>.</summary>
public sealed partial class ManagedIpc : IIpc
{
    private ManagedIpc()
    {
    }

    /// <summary>The same calls as an argument.</summary>
    public static IIpc Instance { get; } = new ManagedIpc();

    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    public static IpcListener Listen(string address)
    {
        var parsed = IpcAddress.Parse(address);
        return TransportTable.Get(parsed).Listen(parsed);
    }

    /// <summary>Connects. <see cref="IpcStatus.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    public static IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Connect(parsed, timeoutMilliseconds);
    }

    /// <summary>Opens the queue of this name (transports of kind "queue"), making it if there is none.</summary>
    public static IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).OpenQueue(parsed, timeoutMilliseconds);
    }

    /// <summary>Removes a queue's name and what waits under it; who has it open goes on with the nameless rest.
    /// <see cref="IpcStatus.NoServer"/> if there is none.</summary>
    public static void RemoveQueue(string address)
    {
        var parsed = IpcAddress.Parse(address);
        TransportTable.Get(parsed).RemoveQueue(parsed);
    }

    /// <summary>Takes the name of a broadcast (transports of kind "broadcast"); <see cref="IpcStatus.NameInUse"/> while another has it.</summary>
    public static Publisher Publish(string address)
    {
        var parsed = IpcAddress.Parse(address);
        return TransportTable.Get(parsed).Publish(parsed);
    }

    /// <summary>Joins a broadcast: what is published from now on arrives.</summary>
    public static Subscriber Subscribe(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Subscribe(parsed, timeoutMilliseconds);
    }

    IpcListener IIpc.Listen(string address) => Listen(address);
    IpcChannel IIpc.Connect(string address, int timeoutMilliseconds) => Connect(address, timeoutMilliseconds);
    IpcQueue IIpc.OpenQueue(string address, int timeoutMilliseconds) => OpenQueue(address, timeoutMilliseconds);
    void IIpc.RemoveQueue(string address) => RemoveQueue(address);
    Publisher IIpc.Publish(string address) => Publish(address);
    Subscriber IIpc.Subscribe(string address, int timeoutMilliseconds) => Subscribe(address, timeoutMilliseconds);

    private static void CheckTimeout(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
    }
}
