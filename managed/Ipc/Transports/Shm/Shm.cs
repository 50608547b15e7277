using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>`shm`: one single-producer single-consumer ring each way in shared memory.</summary>
internal sealed class ShmTransport : Transport
{
    // Enough for a stream whose reader is far behind; while it is not, a small part of them is used (ShmRingMemory.ShortLap).
    private const uint SlotsPerRing = 4096;
    private const long SmallestSize = 64 * 1024;
    private const long LargestSize = 1L << 32;

    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows())
            TransportTable.Add("shm", new ShmTransport());
    }

    public override IpcListener Listen(IpcAddress address) =>
        SharedMemoryHandover.Listen("shm-", address, SharedMemoryLayout.Slots, SlotsPerRing, SizeOf(address),
            segment => new ShmChannel(segment, address.MaxMessageLength, address.ToString()), MemoryOptions.Of(address));

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        SizeOf(address);
        return new ShmChannel(SharedMemoryHandover.Connect("shm-", address, SharedMemoryLayout.Slots, timeoutMilliseconds, MemoryOptions.Of(address)),
            address.MaxMessageLength, address.ToString());
    }

    private static ulong SizeOf(IpcAddress address)
    {
        var size = address.OptionSize("size");
        return size is >= SmallestSize and <= LargestSize && long.IsPow2(size) ? (ulong)size : throw address.BadValue("size", "a power of two from 64k to 4G");
    }
}
