using System.Runtime.Versioning;

namespace Ipc;

/// <summary>How two processes come to share memory, docs/wire-formats.md "Shared-memory handover": the server makes it and hands it over by
/// the connection they met over, the client checks and maps it.</summary>
internal static unsafe class SharedMemoryHandover
{
    /// <summary>A listener whose channels talk through shared memory made for each of them.</summary>
    public static IpcListener Listen(string prefix, IpcAddress address, uint layout, uint slotCount, ulong dataBytes,
        Func<SharedMemorySegment, IpcChannel> open, MemoryOptions options = default)
    {
        IpcChannel? Welcome(SharedMemoryPeer peer) =>
            Offer(peer, layout, slotCount, dataBytes, WaitPolicy.Of(address), options) is { } segment ? open(segment) : null;
        if (OperatingSystem.IsLinux())
            return ListenOnSocket(LocalNames.InPrivateFolder(address, prefix), Welcome);
        if (OperatingSystem.IsWindows())
            return new SharedMemoryListener(address, LocalPipeListener.Open(LocalPipe.PrivateName(address, prefix), PipeMode.Byte), Welcome);
        throw new PlatformNotSupportedException();
    }

    [SupportedOSPlatform("linux")]
    private static LocalListener ListenOnSocket(LocalName name, Func<SharedMemoryPeer, IpcChannel?> welcome) =>
        LocalListener.Open(name, connection =>
        {
            // Clients of ours send nothing over the socket, so there is no need to make memory for one that does.
            if (!LocalSocket.HasSpoken(connection))
                return welcome(new SocketPeer(connection, null));
            connection.Dispose();
            return null;
        });

    /// <summary>A client's connection to such a listener.</summary>
    public static SharedMemorySegment Connect(string prefix, IpcAddress address, uint layout, int timeoutMilliseconds, MemoryOptions options = default)
    {
        var deadline = new Deadline(timeoutMilliseconds);
        if (OperatingSystem.IsLinux())
        {
            var name = LocalNames.InPrivateFolder(address, prefix);
            return TakeUp(new SocketPeer(LocalSocket.Connect(name, deadline), name), layout, WaitPolicy.Of(address), name.Address, deadline, options);
        }
        if (OperatingSystem.IsWindows())
        {
            var pipe = LocalPipe.Connect(LocalPipe.PrivateName(address, prefix), PipeMode.Byte, deadline);
            return TakeUp(new PipePeer(pipe, address.ToString()), layout, WaitPolicy.Of(address), address.ToString(), deadline, options);
        }
        throw new PlatformNotSupportedException();
    }

    /// <summary>The server's end; owns the peer from now on. Null when the client is gone already.</summary>
    public static SharedMemorySegment? Offer(SharedMemoryPeer peer, uint layout, uint slotCount, ulong dataBytes, WaitPolicy policy,
        MemoryOptions options = default)
    {
        byte* memory = null;
        var bytes = SharedMemoryLayout.MappingBytes(layout, slotCount, dataBytes);
        try
        {
            memory = peer.Make(ref bytes, options.HugePages);
            options.Apply(memory, bytes);
            // Fresh memory is zero, which is every other word's first value.
            ReadOnlySpan<uint> header = [SharedMemoryLayout.MappingMagic, SharedMemoryLayout.VersionOf(layout), layout, slotCount];
            header.CopyTo(new Span<uint>(memory, 4));
            *(ulong*)(memory + 16) = dataBytes;
            if (peer.HandOver(layout))
                return new SharedMemorySegment(peer, memory, bytes, 1, slotCount, dataBytes, policy);
        }
        catch
        {
            GiveUp(peer, memory, bytes);
            throw;
        }
        GiveUp(peer, memory, bytes);
        return null;
    }

    /// <summary>The client's end; owns the peer from now on.</summary>
    public static SharedMemorySegment TakeUp(SharedMemoryPeer peer, uint layout, WaitPolicy policy, string server, Deadline deadline,
        MemoryOptions options = default)
    {
        byte* memory = null;
        ulong bytes = 0;
        try
        {
            memory = peer.Receive(layout, deadline, out bytes);
            if (bytes < SharedMemoryLayout.HeaderBytes)
                throw NotTheForm(server);
            // Read once: the server can change them while we check.
            var slotCount = Volatile.Read(ref *(uint*)(memory + 12));
            var dataBytes = Volatile.Read(ref *(ulong*)(memory + 16));
            var header = new ReadOnlySpan<uint>(memory, 3);
            var needed = SharedMemoryLayout.MappingBytes(layout, slotCount, dataBytes);
            if (!header.SequenceEqual([SharedMemoryLayout.MappingMagic, SharedMemoryLayout.VersionOf(layout), layout]) || needed == 0 || bytes < needed)
                throw NotTheForm(server);
            options.Apply(memory, bytes);
            return new SharedMemorySegment(peer, memory, bytes, 0, slotCount, dataBytes, policy);
        }
        catch (Exception e)
        {
            if (e is IpcException { Status: IpcStatus.PeerClosed })
                peer.ForgetDeadServer(deadline);
            GiveUp(peer, memory, bytes);
            throw;
        }
    }

    private static void GiveUp(SharedMemoryPeer peer, byte* memory, ulong bytes)
    {
        if (memory != null)
            SharedMemoryPeer.Unmap(memory, bytes);
        peer.Dispose();
    }

    /// <summary>Why a client does not take up what a server greets it with; null if nothing is wrong.</summary>
    public static IpcException? WhatIsWrong(string? server, uint magic, uint version, uint offered, uint layout)
    {
        if (magic != SharedMemoryLayout.HandoverMagic || offered != layout)
            return NotTheServer(server);
        var ours = SharedMemoryLayout.VersionOf(layout);
        return version == ours ? null : new IpcException(IpcStatus.NotOurProtocol,
            $"the server at {server} speaks version {version} of this transport and this process version {ours}: use the same release of ipc at both ends");
    }

    public static IpcException NotTheServer(string? server) =>
        new(IpcStatus.NotOurProtocol, $"what listens at {server} is not this transport's server: check the address");

    private static IpcException NotTheForm(string server) =>
        new(IpcStatus.NotOurProtocol, $"the shared memory that the server at {server} handed over is not of the form expected: check the address and "
            + "both versions");
}
