using System.Globalization;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The file /dev/shm/ipc-&lt;uid&gt;/ring-&lt;name&gt;, mapped, and this opener's place among those who have it open: its number, which
/// stands in the state of every block it claims and on whose byte it holds a lock for as long as it lives.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class RingFile : IDisposable
{
    private readonly Descriptor _file;
    private readonly string _path;
    private byte* _memory;
    private ulong _bytes;

    private RingFile(Descriptor file, string path, Address address)
    {
        _file = file;
        _path = path;
        Address = address.ToString();
    }

    /// <summary>The folder all rings of this user stand in.</summary>
    public static string Folder => string.Create(CultureInfo.InvariantCulture, $"/dev/shm/ipc-{Libc.EffectiveUser()}");

    /// <summary>The address, for sentences.</summary>
    public string Address { get; }
    public byte* Memory => _memory;
    public RingOrder Order { get; private set; }
    public uint BlockCount { get; private set; }
    public uint BlockBytes { get; private set; }
    /// <summary>1 to <see cref="RingState.MostOwners"/>.</summary>
    public uint Number { get; private set; }

    /// <summary>Opens the ring of this name, or makes one as the address's options say; a ring that nobody has open is made anew.</summary>
    public static RingFile Open(Address address)
    {
        var (count, bytes) = SizesOf(address);
        var path = PathOf(address);
        // Everybody comes and goes under this lock: whoever is found to have the ring open stays until we have it open too.
        using var names = LocalNames.Lock(Folder);
        var existing = OpenExisting(path, address);
        if (existing is not null && !AnybodyElse(existing))
        {
            _ = Libc.Unlink(path); // its openers were all killed
            existing.Dispose();
            existing = null;
        }
        var ring = new RingFile(existing ?? Make(names, address, count, bytes), path, address);
        try
        {
            if (existing is not null)
                ring.MapExisting();
            else
                ring.MapNew(address, count, bytes);
            ring.TakeNumber();
            if (existing is null && !Libc.NameIn(names, Path.GetFileName(path), ring._file))
                throw Libc.Failure(Status.System, $"cannot give the new ring its name {path}");
            return ring;
        }
        catch
        {
            ring.Release();
            throw;
        }
    }

    /// <summary>Removes the name. <see cref="Status.NoServer"/> if there is none, or one that nobody has open.</summary>
    public static void Remove(Address address)
    {
        var path = PathOf(address);
        using var names = LocalNames.Lock(Folder);
        using var existing = OpenExisting(path, address);
        var openSomewhere = existing is not null && AnybodyElse(existing);
        if (existing is not null && Libc.Unlink(path) != 0)
            throw Libc.Failure(Status.System, $"cannot remove {path}");
        if (!openSomewhere)
            throw new IpcException(Status.NoServer, $"nobody has a ring open at {address}: there is nothing to remove");
    }

    /// <summary>Whether the opener of this number still has the ring open; true also when that cannot be found out.</summary>
    public bool IsAlive(uint number) => number == Number || (number != 0 && Libc.AreBytesLocked(_file, number, 1));

    /// <summary>The last one to go removes the name. Once, when nobody is inside.</summary>
    public void Dispose()
    {
        try
        {
            using var names = LocalNames.Lock(Folder);
            if (!AnybodyElse(_file) && Libc.GetStatus(_file, out var own) && Libc.GetStatus(_path, out var named) && named.Identity == own.Identity)
                _ = Libc.Unlink(_path);
            Release(); // while the folder is locked: our number goes, and nobody sees it half gone
        }
        catch (IpcException)
        {
            Release(); // without the lock the name is left to whoever opens it next
        }
    }

    private void Release()
    {
        if (_memory != null)
            _ = Libc.Unmap(_memory, (nuint)_bytes);
        _memory = null;
        _file.Dispose();
    }

    private static string PathOf(Address address)
    {
        PlainName.Check(address);
        return $"{Folder}/ring-{address.Name}";
    }

    private static bool AnybodyElse(Descriptor file) => Libc.AreBytesLocked(file, 1, RingState.MostOwners);

    // What stands at the name, null if nothing does. Under the folder's lock.
    private static Descriptor? OpenExisting(string path, Address address)
    {
        var file = Libc.Open(path, Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_NONBLOCK);
        if (file is null && Libc.LastError == Libc.ENOENT)
            return null;
        if (file is null || !Libc.GetStatus(file, out var status) || status.Kind != Libc.S_IFREG || status.User != Libc.EffectiveUser())
        {
            file?.Dispose();
            throw new IpcException(Status.NoPermission, $"what stands at {path} for {address} is not a file of this user: remove it");
        }
        // The magic alone tells whose file it is: what is not ours is not ours to remove.
        uint magic = 0;
        if (Libc.Read(file, (byte*)&magic, sizeof(uint)) == sizeof(uint) && magic == RingBlocks.Magic)
            return file;
        file.Dispose();
        throw new IpcException(Status.NotOurProtocol, $"the file {path} for {address} is not a ring: move it away");
    }

    // Without a name, which it gets once it is complete: no half-made ring stays behind, wherever we are killed.
    private static Descriptor Make(Descriptor folder, Address address, uint count, uint blockBytes)
    {
        var bytes = RingBlocks.FileBytes(count, blockBytes);
        var file = Libc.OpenNameless(folder, 0b110_000_000);
        // Allocated now: a full file system must not show later, as a signal at the first touch of a page.
        var error = file is null ? Libc.LastError : Libc.TakeRoom(file, (long)bytes);
        if (error == 0)
            return file!;
        file?.Dispose();
        throw Libc.Failure(error is Libc.ENOMEM or Libc.ENOSPC ? Status.OutOfMemory : Status.System,
            $"cannot make {bytes} bytes of shared memory in {Folder} for {address}", error);
    }

    private void MapNew(Address address, uint count, uint blockBytes)
    {
        Map(RingBlocks.FileBytes(count, blockBytes));
        (Order, BlockCount, BlockBytes) = (address.Option("order") == "lifo" ? RingOrder.Lifo : RingOrder.Fifo, count, blockBytes);
        RingBlocks.Format(_memory, Order, count, blockBytes);
    }

    private void MapExisting()
    {
        if (Libc.GetStatus(_file, out var status) && status.Size is >= RingBlocks.HeaderBytes and <= long.MaxValue)
        {
            Map(status.Size);
            // Copied once: others can change the words while we check them.
            var words = (uint*)_memory;
            var version = Volatile.Read(ref words[1]);
            Order = (RingOrder)Volatile.Read(ref words[2]);
            BlockCount = Volatile.Read(ref words[3]);
            BlockBytes = Volatile.Read(ref words[4]);
            if (version == RingBlocks.Version && Order is RingOrder.Fifo or RingOrder.Lifo && RingBlocks.FileBytes(BlockCount, BlockBytes) == _bytes)
                return;
        }
        throw new IpcException(Status.NotOurProtocol, $"the ring {Address} at {_path} is damaged or of another version: end all who have it open");
    }

    private void Map(ulong bytes)
    {
        var memory = Libc.Map(null, (nuint)bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, _file, 0);
        if (memory == -1)
            throw Libc.Failure(Status.System, $"cannot map {bytes} bytes of shared memory for {Address}");
        _memory = (byte*)memory;
        _bytes = bytes;
    }

    private void TakeNumber()
    {
        for (uint number = 1; number <= RingState.MostOwners; number++)
        {
            if (Libc.TryLockBytes(_file, number, 1))
            {
                Number = number;
                return;
            }
            if (Libc.LastError is not (Libc.EAGAIN or Libc.EACCES or Libc.EINTR))
                throw Libc.Failure(Status.System, $"cannot lock a place in the ring {Address}");
        }
        throw new IpcException(Status.System, $"the ring {Address} is open {RingState.MostOwners} times already: share handles between threads");
    }

    private static (uint Count, uint BlockBytes) SizesOf(Address address)
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
