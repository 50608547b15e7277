namespace Ipc.Native;

/// <summary>Opens channels through the C ABI (ipc.h, libipc.so or ipc.dll): the `bound` twin of <see cref="ManagedIpc"/>, call for call.
/// Every member throws <see cref="IpcException"/> with <see cref="Status.NotAvailable"/> where the native library is missing.</summary>
public static unsafe class NativeIpc
{
    /// <summary>The ABI version of the library loaded.</summary>
    public static Version AbiVersion
    {
        get
        {
            NativeLibraryLoader.Require();
            var version = NativeMethods.AbiVersion();
            return new Version((int)(version >> 16), (int)(version & 0xFFFF));
        }
    }

    /// <summary>The registry ids of the transports the native library knows.</summary>
    public static IReadOnlyList<string> Transports
    {
        get
        {
            NativeLibraryLoader.Require();
            var ids = new string[NativeMethods.TransportCount()];
            for (var i = 0; i < ids.Length; i++)
                ids[i] = NativeStatus.Text(NativeMethods.TransportId(i));
            return ids;
        }
    }

    /// <summary>A transport's registry entry as JSON text; <see cref="Status.UnknownTransport"/> if the native library has none.</summary>
    public static string Describe(string transport)
    {
        ArgumentNullException.ThrowIfNull(transport);
        NativeLibraryLoader.Require();
        var entry = NativeMethods.TransportDescribe(transport);
        return entry != null
            ? NativeStatus.Text(entry)
            : throw new IpcException(Status.UnknownTransport,
                $"the native library has no transport '{transport}'; it has {string.Join(", ", Transports)}");
    }

    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    public static Listener Listen(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativeListener* listener;
        NativeStatus.Check(NativeMethods.Listen(address, &listener));
        return new BoundListener(listener);
    }

    /// <summary>Connects. <see cref="Status.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    public static Channel Connect(string address, int timeoutMilliseconds = Channel.Forever)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativeChannel* channel;
        NativeStatus.Check(NativeMethods.Connect(address, timeoutMilliseconds, &channel));
        return new BoundChannel(channel);
    }

    /// <summary>Opens the queue of this name (transports of kind "queue"), making it if there is none.</summary>
    public static MessageQueue OpenQueue(string address, int timeoutMilliseconds = Channel.Forever)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativeQueue* queue;
        NativeStatus.Check(NativeMethods.QueueOpen(address, timeoutMilliseconds, &queue));
        return new BoundQueue(queue);
    }

    /// <summary>Removes a queue's name and what waits under it; who has it open goes on with the nameless rest.
    /// <see cref="Status.NoServer"/> if there is none.</summary>
    public static void RemoveQueue(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativeStatus.Check(NativeMethods.QueueRemove(address));
    }

    /// <summary>Takes the name of a broadcast (transports of kind "broadcast"); <see cref="Status.NameInUse"/> while another has it.</summary>
    public static Publisher Publish(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativePublisher* publisher;
        NativeStatus.Check(NativeMethods.PublisherOpen(address, &publisher));
        return new BoundPublisher(publisher);
    }

    /// <summary>Joins a broadcast: what is published from now on arrives.</summary>
    public static Subscriber Subscribe(string address, int timeoutMilliseconds = Channel.Forever)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        NativeSubscriber* subscriber;
        NativeStatus.Check(NativeMethods.SubscriberOpen(address, timeoutMilliseconds, &subscriber));
        return new BoundSubscriber(subscriber);
    }
}
