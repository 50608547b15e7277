using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A ring's file in the user's folder for shared memory; a number is held by an open-file-description lock.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class LinuxRingFile : RingFile
{
    private readonly Descriptor _file;
    private readonly string _path;

    private LinuxRingFile(Descriptor file, string path, IpcAddress address) : base(address) => (_file, _path) = (file, path);

    /// <summary>The folder all rings of this user stand in.</summary>
    public static string Folder => LocalNames.MemoryFolder;

    public static LinuxRingFile OpenOrMake(IpcAddress address, Deadline deadline)
    {
        var (count, bytes) = SizesOf(address);
        var path = PathOf(address);
        // Everybody comes and goes under this lock: whoever is found to have the ring open stays until we have it open too.
        using var names = LocalNames.Lock(Folder, deadline);
        var existing = OpenExisting(path, address);
        if (existing is not null && !AnybodyElse(existing))
        {
            _ = Libc.Unlink(path); // its openers were all killed
            existing.Dispose();
            existing = null;
        }
        var ring = new LinuxRingFile(existing ?? Make(names, address, count, bytes), path, address);
        try
        {
            if (existing is not null)
                ring.MapExisting();
            else
                ring.MapNew(address, count, bytes);
            ring.TakeNumber();
            if (existing is null && !Libc.NameIn(names, Path.GetFileName(path), ring._file))
                throw Libc.Failure(IpcStatus.System, $"cannot give the new ring its name {path}");
            return ring;
        }
        catch
        {
            ring.Release();
            throw;
        }
    }

    public static void RemoveName(IpcAddress address)
    {
        var path = PathOf(address);
        using var names = LocalNames.Lock(Folder);
        using var existing = OpenExisting(path, address);
        var openSomewhere = existing is not null && AnybodyElse(existing);
        if (existing is not null && Libc.Unlink(path) != 0)
            throw Libc.Failure(IpcStatus.System, $"cannot remove {path}");
        if (!openSomewhere)
            throw new IpcException(IpcStatus.NoServer, $"nobody has a ring open at {address}: there is nothing to remove");
    }

    public override void Dispose()
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
        if (Memory != null)
            _ = Libc.Unmap(Memory, (nuint)Bytes);
        Forget();
        _file.Dispose();
    }

    protected override bool TrySign(uint number)
    {
        if (Libc.TryLockBytes(_file, number, 1))
            return true;
        return Libc.LastError is Libc.EAGAIN or Libc.EACCES or Libc.EINTR
            ? false
            : throw Libc.Failure(IpcStatus.System, $"cannot lock a place in the ring {Address}");
    }

    protected override bool IsSigned(uint number) => Libc.AreBytesLocked(_file, number, 1);

    private static string PathOf(IpcAddress address)
    {
        PlainName.Check(address);
        return $"{Folder}/ring-{address.Name}";
    }

    private static bool AnybodyElse(Descriptor file) => Libc.AreBytesLocked(file, 1, RingState.MostOwners);

    // What stands at the name, null if nothing does. Under the folder's lock.
    private static Descriptor? OpenExisting(string path, IpcAddress address)
    {
        var file = Libc.Open(path, Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_NONBLOCK);
        if (file is null && Libc.LastError == Libc.ENOENT)
            return null;
        if (file is null && Libc.IsShortage(Libc.LastError))
            throw Libc.Failure(IpcStatus.System, $"cannot open {path} for {address}");
        if (file is null || !Libc.GetStatus(file, out var status) || status.Kind != Libc.S_IFREG || status.User != Libc.EffectiveUser())
        {
            file?.Dispose();
            throw new IpcException(IpcStatus.NoPermission, $"what stands at {path} for {address} is not a file of this user: remove it");
        }
        // The magic alone tells whose file it is: what is not ours is not ours to remove.
        uint magic = 0;
        if (Libc.Read(file, (byte*)&magic, sizeof(uint)) == sizeof(uint) && magic == RingBlocks.Magic)
            return file;
        file.Dispose();
        throw new IpcException(IpcStatus.NotOurProtocol, $"the file {path} for {address} is not a ring: move it away");
    }

    // Without a name, which it gets once it is complete: no half-made ring stays behind, wherever we are killed.
    private static Descriptor Make(Descriptor folder, IpcAddress address, uint count, uint blockBytes)
    {
        var bytes = RingBlocks.FileBytes(count, blockBytes);
        var file = Libc.OpenNameless(folder, 0b110_000_000);
        // Allocated now: a full file system must not show later, as a signal at the first touch of a page.
        var error = file is null ? Libc.LastError : Libc.TakeRoom(file, (long)bytes);
        if (error == 0)
            return file!;
        file?.Dispose();
        if (error is Libc.ENOMEM or Libc.ENOSPC)
            throw new IpcException(IpcStatus.OutOfMemory,
                $"there is no room in {Folder} for the ring {address} of {bytes} bytes: remove rings no longer used, or make a smaller one with "
                + "blocks= or block=");
        throw Libc.Failure(IpcStatus.System, $"cannot make {bytes} bytes of shared memory in {Folder} for {address}", error);
    }

    private void MapNew(IpcAddress address, uint count, uint blockBytes)
    {
        Map(RingBlocks.FileBytes(count, blockBytes));
        Format(address, count, blockBytes);
    }

    private void MapExisting()
    {
        if (Libc.GetStatus(_file, out var status) && status.Size is >= RingBlocks.HeaderBytes and <= long.MaxValue)
        {
            Map(status.Size);
            if (ReadHeader())
                return;
        }
        throw Damaged(_path);
    }

    private void Map(ulong bytes)
    {
        var memory = Libc.Map(null, (nuint)bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, _file, 0);
        if (memory == -1)
            throw Libc.Failure(IpcStatus.System, $"cannot map {bytes} bytes of shared memory for {Address}");
        SetMemory((byte*)memory, bytes);
    }
}
