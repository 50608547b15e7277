using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>Opens channels through the C ABI (ipc.h, libipc.so or libipc.dll): the `bound` twin of <see cref="ManagedIpc"/>, call for call.
/// Every member throws <see cref="IpcException"/> with <see cref="IpcStatus.NotAvailable"/> where the native library is missing.</summary>
public sealed unsafe partial class NativeIpc : IIpc
{
    private NativeIpc()
    {
    }

    /// <summary>The same calls as an argument.</summary>
    public static IIpc Instance { get; } = new NativeIpc();

    /// <summary>The ABI version of the library loaded.</summary>
    public static Version AbiVersion
    {
        get
        {
            NativeLibraryLoader.Require();
            var version = Loaded.AbiVersion();
            return new Version((int)(version >> 16), (int)(version & 0xFFFF));
        }
    }

    /// <summary>The registry ids of the transports the native library knows.</summary>
    public static IReadOnlyList<string> Transports
    {
        get
        {
            NativeLibraryLoader.Require();
            return Loaded.Transports();
        }
    }

    /// <summary>A transport's registry entry as JSON text; <see cref="IpcStatus.UnknownTransport"/> if the native library has none.</summary>
    public static string Describe(string transport)
    {
        ArgumentNullException.ThrowIfNull(transport);
        NativeLibraryLoader.Require();
        return Loaded.Describe(transport)
            ?? throw new IpcException(IpcStatus.UnknownTransport,
                $"the native library has no transport '{transport}'; it has {string.Join(", ", Transports)}");
    }

    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    public static IpcListener Listen(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Listen(address);
    }

    /// <summary>Connects. <see cref="IpcStatus.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    public static IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Connect(address, timeoutMilliseconds);
    }

    /// <summary>Opens the queue of this name (transports of kind "queue"), making it if there is none.</summary>
    public static IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.OpenQueue(address, timeoutMilliseconds);
    }

    /// <summary>Removes a queue's name and what waits under it; who has it open goes on with the nameless rest.
    /// <see cref="IpcStatus.NoServer"/> if there is none.</summary>
    public static void RemoveQueue(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        Loaded.RemoveQueue(address);
    }

    /// <summary>Takes the name of a broadcast (transports of kind "broadcast"); <see cref="IpcStatus.NameInUse"/> while another has it.</summary>
    public static Publisher Publish(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Publish(address);
    }

    /// <summary>Joins a broadcast: what is published from now on arrives.</summary>
    public static Subscriber Subscribe(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Subscribe(address, timeoutMilliseconds);
    }

    IpcListener IIpc.Listen(string address) => Listen(address);
    IpcChannel IIpc.Connect(string address, int timeoutMilliseconds) => Connect(address, timeoutMilliseconds);
    IpcQueue IIpc.OpenQueue(string address, int timeoutMilliseconds) => OpenQueue(address, timeoutMilliseconds);
    void IIpc.RemoveQueue(string address) => RemoveQueue(address);
    Publisher IIpc.Publish(string address) => Publish(address);
    Subscriber IIpc.Subscribe(string address, int timeoutMilliseconds) => Subscribe(address, timeoutMilliseconds);

    /// <summary>The calls themselves. Mono binds a native function when it compiles a method that calls it, so these methods stand apart and
    /// are never inlined: they are compiled only when the loader has found the library and told the runtime.</summary>
    private static class Loaded
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static uint AbiVersion() => NativeMethods.AbiVersion();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static string[] Transports()
        {
            var ids = new string[NativeMethods.TransportCount()];
            for (var i = 0; i < ids.Length; i++)
                ids[i] = NativeStatus.Text(NativeMethods.TransportId(i));
            return ids;
        }

        /// <summary>Null if there is none.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static string? Describe(string transport)
        {
            var entry = NativeMethods.TransportDescribe(transport);
            return entry != null ? NativeStatus.Text(entry) : null;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static BoundListener Listen(string address)
        {
            NativeListener* listener;
            NativeStatus.Check(NativeMethods.Listen(address, &listener));
            return new BoundListener(listener);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static BoundChannel Connect(string address, int timeoutMilliseconds)
        {
            NativeChannel* channel;
            NativeStatus.Check(NativeMethods.Connect(address, timeoutMilliseconds, &channel));
            return new BoundChannel(channel);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static BoundQueue OpenQueue(string address, int timeoutMilliseconds)
        {
            NativeQueue* queue;
            NativeStatus.Check(NativeMethods.QueueOpen(address, timeoutMilliseconds, &queue));
            return new BoundQueue(queue);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void RemoveQueue(string address) => NativeStatus.Check(NativeMethods.QueueRemove(address));

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static BoundPublisher Publish(string address)
        {
            NativePublisher* publisher;
            NativeStatus.Check(NativeMethods.PublisherOpen(address, &publisher));
            return new BoundPublisher(publisher);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static BoundSubscriber Subscribe(string address, int timeoutMilliseconds)
        {
            NativeSubscriber* subscriber;
            NativeStatus.Check(NativeMethods.SubscriberOpen(address, timeoutMilliseconds, &subscriber));
            return new BoundSubscriber(subscriber);
        }
    }
}
