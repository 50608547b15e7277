namespace Ipc;

/// <summary>The file ring-&lt;name&gt;, mapped, and this opener's place among those who have it open: its number, which stands in the state
/// of every block it claims and on whose byte it holds a lock for as long as it lives.</summary>
internal abstract unsafe class RingFile(IpcAddress address) : IDisposable
{
    private byte* _memory;

    /// <summary>The address, for error messages.</summary>
    public string Address { get; } = address.ToString();
    public byte* Memory => _memory;
    public RingOrder Order { get; private set; }
    public uint BlockCount { get; private set; }
    public uint BlockBytes { get; private set; }
    /// <summary>1 to <see cref="RingState.MostOwners"/>.</summary>
    public uint Number { get; private set; }
    protected ulong Bytes { get; private set; }

    /// <summary>Opens the ring of this name, or makes one as the address's options say; a ring that nobody has open is made anew.
    /// The deadline is for the folder's lock, the one thing to wait for.</summary>
    public static RingFile Open(IpcAddress address, Deadline deadline)
    {
        if (OperatingSystem.IsLinux())
            return LinuxRingFile.OpenOrMake(address, deadline);
        return OperatingSystem.IsWindows() ? WindowsRingFile.OpenOrMake(address, deadline) : throw new PlatformNotSupportedException();
    }

    /// <summary>Removes the name. <see cref="IpcStatus.NoServer"/> if there is none, or one that nobody has open.</summary>
    public static void Remove(IpcAddress address)
    {
        if (OperatingSystem.IsLinux())
            LinuxRingFile.RemoveName(address);
        else if (OperatingSystem.IsWindows())
            WindowsRingFile.RemoveName(address);
    }

    /// <summary>Whether the opener of this number still has the ring open; true also when that cannot be found out.</summary>
    public bool IsAlive(uint number) => number == Number || (number != 0 && IsSigned(number));

    /// <summary>The last one to go removes the name. Once, when nobody is inside.</summary>
    public abstract void Dispose();

    /// <summary>Takes a number; false when another opener has it. Throws for other reasons.</summary>
    protected abstract bool TrySign(uint number);

    /// <summary>Whether another opener has the number.</summary>
    protected abstract bool IsSigned(uint number);

    protected void SetMemory(byte* memory, ulong bytes)
    {
        _memory = memory;
        Bytes = bytes;
    }

    protected void Forget() => _memory = null;

    protected void Format(IpcAddress address, uint count, uint blockBytes)
    {
        (Order, BlockCount, BlockBytes) = (address.Option("order") == "lifo" ? RingOrder.Lifo : RingOrder.Fifo, count, blockBytes);
        RingBlocks.Format(_memory, Order, count, blockBytes);
    }

    /// <summary>Takes the numbers of a mapped file over, which others can change at any time; false if they cannot be.</summary>
    protected bool ReadHeader()
    {
        var words = (uint*)_memory;
        var version = Volatile.Read(ref words[1]);
        Order = (RingOrder)Volatile.Read(ref words[2]);
        BlockCount = Volatile.Read(ref words[3]);
        BlockBytes = Volatile.Read(ref words[4]);
        return version == RingBlocks.Version && Order is RingOrder.Fifo or RingOrder.Lifo && RingBlocks.FileBytes(BlockCount, BlockBytes) == Bytes;
    }

    protected void TakeNumber()
    {
        for (uint number = 1; number <= RingState.MostOwners; number++)
        {
            if (!TrySign(number))
                continue;
            Number = number;
            return;
        }
        throw new IpcException(IpcStatus.System, $"the ring {Address} is open {RingState.MostOwners} times already: share handles between threads");
    }

    protected IpcException Damaged(string path) =>
        new(IpcStatus.NotOurProtocol, $"the ring {Address} at {path} is damaged or of another version: end all who have it open");

    protected static (uint Count, uint BlockBytes) SizesOf(IpcAddress address)
    {
        var count = address.OptionCount("blocks");
        var bytes = address.OptionSize("block");
        if (count is < 2 or > RingBlocks.MostBlocks || !long.IsPow2(count))
            throw address.BadValue("blocks", "a power of two from 2 to 65536");
        if (bytes > RingBlocks.LargestBlock)
            throw address.BadValue("block", "at most 1G");
        return ((uint)count, (uint)bytes);
    }
}
