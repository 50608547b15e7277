using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The peer behind a Unix socket, over which the memory's descriptor comes; docs/wire-formats.md "Shared-memory handover".</summary>
/// <param name="socket">Owned.</param>
/// <param name="server">For a client: the name it connected to, and removes should its server die.</param>
[SupportedOSPlatform("linux")]
internal sealed unsafe partial class SocketPeer(Descriptor socket, LocalName? server) : SharedMemoryPeer
{
    private Descriptor? _file; // until it is handed over

    [StructLayout(LayoutKind.Sequential)]
    private struct Greeting
    {
        public uint Magic;
        public uint Version;
        public uint Layout;
        public uint Zero;
    }

    public override Descriptor Socket => socket;

    public override byte* Make(ref ulong bytes, bool hugePages)
    {
        _file = SealedMemory.Create(ref bytes, hugePages);
        SealedMemory.SealSeals(_file);
        return SealedMemory.MapUnowned(_file, bytes, writable: true);
    }

    public override bool HandOver(uint layout)
    {
        using var file = _file!;
        var greeting = new Greeting { Magic = SharedMemoryLayout.HandoverMagic, Version = SharedMemoryLayout.VersionOf(layout), Layout = layout };
        return DescriptorMessage.Send(socket, &greeting, sizeof(Greeting), [file]) switch
        {
            0 => true,
            Libc.EPIPE or Libc.ECONNRESET or Libc.EAGAIN => false,
            var error => throw Libc.Failure(IpcStatus.System, "cannot hand shared memory over", error),
        };
    }

    public override byte* Receive(uint layout, Deadline deadline, out ulong bytes)
    {
        using var file = ReceiveGreeting(layout, deadline);
        // Without the seals the server could shrink the memory under us, and touching it would kill this process.
        bytes = SealedMemory.BytesOf(file, sealsToo: true);
        return bytes == 0 ? null : SealedMemory.MapUnowned(file, bytes, writable: true);
    }

    private Descriptor ReceiveGreeting(uint layout, Deadline deadline)
    {
        while (Libc.Poll(socket, Libc.POLLIN, deadline.LeftMilliseconds) == 0)
        {
            if (deadline.Expired)
                throw new IpcException(IpcStatus.TimedOut, $"the server at {server?.Address} did not accept this client within the time-out");
        }
        Greeting greeting = default;
        var count = DescriptorMessage.Receive(socket, &greeting, sizeof(Greeting), out var descriptors);
        if (count < 0 && count != -Libc.ECONNRESET)
            throw Libc.Failure(IpcStatus.System, $"cannot take the shared memory of the server at {server?.Address}", -count);
        var wrong = SharedMemoryHandover.WhatIsWrong(server?.Address, count == sizeof(Greeting) ? greeting.Magic : 0, greeting.Version, greeting.Layout,
            layout);
        if (wrong is null && descriptors.Length == 1)
            return descriptors[0];
        foreach (var descriptor in descriptors)
            descriptor.Dispose();
        throw count is 0 or -Libc.ECONNRESET
            ? new IpcException(IpcStatus.PeerClosed, $"the server at {server?.Address} closed before it accepted this client: reconnect")
            : wrong ?? SharedMemoryHandover.NotTheServer(server?.Address);
    }

    public override void SleepOn(byte* memory) { }

    public override bool HasOneProcessorWithUs() => Processors.AreOne(LocalSocket.PeerOf(socket).Process);

    // The peer's end of the socket goes with its process, however that ends.
    public override bool HasDied() => LocalSocket.PeerHasEnded(socket);

    public override void HangUp() => LocalSocket.ShutDown(socket);

    public override void ForgetDeadServer(Deadline deadline)
    {
        if (server is not null)
            LocalSocket.ForgetDeadServer(server, socket, deadline);
    }

    public override void Dispose()
    {
        _file?.Dispose();
        socket.Dispose();
    }
}
