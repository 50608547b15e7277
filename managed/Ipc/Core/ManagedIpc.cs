namespace Ipc;

/// <summary>Opens channels, queues and broadcasts in pure .NET; no native library is loaded. The `bound` twin with the same calls
/// over the C ABI is <c>Ipc.Native.NativeIpc</c>.</summary>
public static class ManagedIpc
{
    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    public static Listener Listen(string address)
    {
        var parsed = Address.Parse(address);
        return TransportTable.Get(parsed).Listen(parsed);
    }

    /// <summary>Connects. <see cref="Status.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    public static Channel Connect(string address, int timeoutMilliseconds = Channel.Forever)
    {
        var parsed = Address.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Connect(parsed, timeoutMilliseconds);
    }

    /// <summary>Opens the queue of this name (transports of kind "queue"), making it if there is none.</summary>
    public static MessageQueue OpenQueue(string address, int timeoutMilliseconds = Channel.Forever)
    {
        var parsed = Address.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).OpenQueue(parsed, timeoutMilliseconds);
    }

    /// <summary>Removes a queue's name and what waits under it; who has it open goes on with the nameless rest.
    /// <see cref="Status.NoServer"/> if there is none.</summary>
    public static void RemoveQueue(string address)
    {
        var parsed = Address.Parse(address);
        TransportTable.Get(parsed).RemoveQueue(parsed);
    }

    /// <summary>Takes the name of a broadcast (transports of kind "broadcast"); <see cref="Status.NameInUse"/> while another has it.</summary>
    public static Publisher Publish(string address)
    {
        var parsed = Address.Parse(address);
        return TransportTable.Get(parsed).Publish(parsed);
    }

    /// <summary>Joins a broadcast: what is published from now on arrives.</summary>
    public static Subscriber Subscribe(string address, int timeoutMilliseconds = Channel.Forever)
    {
        var parsed = Address.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Subscribe(parsed, timeoutMilliseconds);
    }

    private static void CheckTimeout(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Channel.Forever)
            throw new IpcException(Status.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Forever (-1)");
    }
}
