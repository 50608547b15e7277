using System.Runtime.CompilerServices;

namespace Ipc.Native;

/// <summary>Opens channels, queues and broadcasts through the C library (libipc.so or libipc.dll). It has the members of <see cref="ManagedIpc"/>, and
/// they behave the same.</summary>
/// <remarks>Where the native library is missing, every member throws an <see cref="IpcException"/> with <see cref="IpcStatus.NotAvailable"/> that says where
/// it was looked for. Any thread may call any member.</remarks>
public sealed unsafe partial class NativeIpc : IIpc
{
    private NativeIpc()
    {
    }

    /// <summary>The same members as an object, for code that takes either implementation.</summary>
    public static IIpc Instance { get; } = new NativeIpc();

    /// <summary>The version of the C ABI that the native library implements.</summary>
    /// <exception cref="IpcException"><see cref="IpcStatus.NotAvailable"/>: the native library is missing.</exception>
    public static Version AbiVersion
    {
        get
        {
            NativeLibraryLoader.Require();
            var version = Loaded.AbiVersion();
            return new Version((int)(version >> 16), (int)(version & 0xFFFF));
        }
    }

    /// <summary>The transports that the native library knows, for example <c>shm</c>.</summary>
    /// <exception cref="IpcException"><see cref="IpcStatus.NotAvailable"/>: the native library is missing.</exception>
    public static IReadOnlyList<string> Transports
    {
        get
        {
            NativeLibraryLoader.Require();
            return Loaded.Transports();
        }
    }

    /// <summary>Describes a transport: its options, its limits and the systems that have it.</summary>
    /// <param name="transport">The transport, for example <c>shm</c>.</param>
    /// <returns>A JSON object, the transport's entry in registry.json.</returns>
    /// <exception cref="ArgumentNullException">The transport is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.UnknownTransport"/>; <see cref="IpcStatus.NotAvailable"/>: the native library is
    /// missing.</exception>
    public static string Describe(string transport)
    {
        ArgumentNullException.ThrowIfNull(transport);
        NativeLibraryLoader.Require();
        return Loaded.Describe(transport)
            ?? throw new IpcException(IpcStatus.UnknownTransport,
                $"the native library has no transport '{transport}'; it has {string.Join(", ", Transports)}");
    }

    /// <inheritdoc cref="IIpc.Listen(string)"/>
    public static IpcListener Listen(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Listen(address);
    }

    /// <inheritdoc cref="IIpc.Connect(string, int)"/>
    public static IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Connect(address, timeoutMilliseconds);
    }

    /// <inheritdoc cref="IIpc.OpenQueue(string, int)"/>
    public static IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.OpenQueue(address, timeoutMilliseconds);
    }

    /// <inheritdoc cref="IIpc.RemoveQueue(string)"/>
    public static void RemoveQueue(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        Loaded.RemoveQueue(address);
    }

    /// <inheritdoc cref="IIpc.Publish(string)"/>
    public static Publisher Publish(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        NativeLibraryLoader.Require();
        return Loaded.Publish(address);
    }

    /// <inheritdoc cref="IIpc.Subscribe(string, int)"/>
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
            return new BoundChannel(channel, address);
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
