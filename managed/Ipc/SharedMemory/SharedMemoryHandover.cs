using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>How two processes come to share memory, docs/wire-formats.md "Shared-memory handover": the server makes it and sends
/// its descriptor over a Unix socket, the client checks and maps it.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class SharedMemoryHandover
{
    [StructLayout(LayoutKind.Sequential)]
    private struct Greeting
    {
        public uint Magic;
        public uint Version;
        public uint Layout;
        public uint Zero;
    }

    /// <summary>A listener whose channels talk through shared memory made for each of them.</summary>
    public static Listener Listen(
        LocalName name, Address address, uint layout, uint slotCount, ulong dataBytes, Func<SharedMemoryLink, Channel> open, MemoryOptions options = default) =>
        LocalListener.Open(name, connection =>
            Offer(connection, layout, slotCount, dataBytes, WaitPolicy.Of(address), options) is { } link ? open(link) : null);

    /// <summary>A client's connection to such a listener.</summary>
    public static SharedMemoryLink Connect(LocalName name, Address address, uint layout, int timeoutMilliseconds, MemoryOptions options = default)
    {
        var deadline = new Deadline(timeoutMilliseconds);
        return TakeUp(LocalSocket.Connect(name, deadline), layout, WaitPolicy.Of(address), name, deadline, options);
    }

    /// <summary>The server's end; owns the connection from now on. Null when the client is gone already.</summary>
    public static SharedMemoryLink? Offer(Descriptor connection, uint layout, uint slotCount, ulong dataBytes, WaitPolicy policy, MemoryOptions options = default)
    {
        byte* memory = null;
        var bytes = SharedMemoryLayout.MappingBytes(layout, slotCount, dataBytes);
        try
        {
            using var file = SealedMemory.Create(ref bytes, options.HugePages);
            SealedMemory.SealSeals(file);
            memory = SealedMemory.MapUnowned(file, bytes, writable: true);
            options.Apply(memory, bytes);
            // A fresh file is zero, which is every other word's first value.
            ReadOnlySpan<uint> header = [SharedMemoryLayout.MappingMagic, SharedMemoryLayout.Version, layout, slotCount];
            header.CopyTo(new Span<uint>(memory, 4));
            *(ulong*)(memory + 16) = dataBytes;
            if (SendGreeting(connection, layout, file))
                return new SharedMemoryLink(connection, memory, bytes, 1, slotCount, dataBytes, policy, null);
        }
        catch
        {
            GiveUp(connection, memory, bytes);
            throw;
        }
        GiveUp(connection, memory, bytes);
        return null;
    }

    /// <summary>The client's end; owns the connection from now on.</summary>
    public static SharedMemoryLink TakeUp(Descriptor connection, uint layout, WaitPolicy policy, LocalName server, Deadline deadline, MemoryOptions options = default)
    {
        byte* memory = null;
        ulong bytes = 0;
        try
        {
            using var file = ReceiveGreeting(connection, layout, server, deadline);
            // Without the seals the server could shrink the memory under us, and touching it would kill this process.
            bytes = SealedMemory.BytesOf(file, sealsToo: true);
            if (bytes < SharedMemoryLayout.HeaderBytes)
                throw NotTheForm(server);
            memory = SealedMemory.MapUnowned(file, bytes, writable: true);
            // Read once: the server can change them while we check.
            var slotCount = Volatile.Read(ref *(uint*)(memory + 12));
            var dataBytes = Volatile.Read(ref *(ulong*)(memory + 16));
            var header = new ReadOnlySpan<uint>(memory, 3);
            var needed = SharedMemoryLayout.MappingBytes(layout, slotCount, dataBytes);
            if (!header.SequenceEqual([SharedMemoryLayout.MappingMagic, SharedMemoryLayout.Version, layout]) || needed == 0 || bytes < needed)
                throw NotTheForm(server);
            options.Apply(memory, bytes);
            return new SharedMemoryLink(connection, memory, bytes, 0, slotCount, dataBytes, policy, server);
        }
        catch (Exception e)
        {
            if (e is IpcException { Status: Status.PeerClosed })
                LocalSocket.ForgetDeadServer(server, connection);
            GiveUp(connection, memory, bytes);
            throw;
        }
    }

    private static void GiveUp(Descriptor connection, byte* memory, ulong bytes)
    {
        if (memory != null)
            _ = Libc.Unmap(memory, (nuint)bytes);
        connection.Dispose();
    }

    private static bool SendGreeting(Descriptor connection, uint layout, Descriptor file)
    {
        var greeting = new Greeting { Magic = SharedMemoryLayout.HandoverMagic, Version = SharedMemoryLayout.Version, Layout = layout };
        return DescriptorMessage.Send(connection, &greeting, sizeof(Greeting), [file]) switch
        {
            0 => true,
            Libc.EPIPE or Libc.ECONNRESET => false,
            var error => throw Libc.Failure(Status.System, "cannot hand shared memory over", error),
        };
    }

    private static Descriptor ReceiveGreeting(Descriptor connection, uint layout, LocalName server, Deadline deadline)
    {
        while (Libc.Poll(connection, Libc.POLLIN, deadline.LeftMilliseconds) == 0)
        {
            if (deadline.Expired)
                throw new IpcException(Status.TimedOut, $"the server at {server.Address} did not accept this client within the time-out");
        }
        Greeting greeting = default;
        var count = DescriptorMessage.Receive(connection, &greeting, sizeof(Greeting), out var descriptors);
        if (count == sizeof(Greeting) && descriptors.Length == 1 && greeting is { Magic: SharedMemoryLayout.HandoverMagic, Version: SharedMemoryLayout.Version } &&
            greeting.Layout == layout)
            return descriptors[0];
        foreach (var descriptor in descriptors)
            descriptor.Dispose();
        throw count is 0 or -Libc.ECONNRESET
            ? new IpcException(Status.PeerClosed, $"the server at {server.Address} closed before it accepted this client: connect anew")
            : new IpcException(Status.NotOurProtocol, $"what listens at {server.Address} is not this transport's server, or of another version: check the address");
    }

    private static IpcException NotTheForm(LocalName server) =>
        new(Status.NotOurProtocol, $"the shared memory that the server at {server.Address} handed over is not of the form expected: check the address and both versions");
}
