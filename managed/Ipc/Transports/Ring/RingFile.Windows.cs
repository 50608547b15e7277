using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A ring's file in the private folder of Windows, and the semaphores that stand for its words.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsRingFile : RingFile
{
    private readonly PrivateFile _place;
    private readonly Win32Handle _file;
    private NamedPlaces? _places;

    private WindowsRingFile(PrivateFile place, Win32Handle file, IpcAddress address) : base(address) => (_place, _file) = (place, file);

    public static WindowsRingFile OpenOrMake(IpcAddress address, Deadline deadline)
    {
        var (count, blockBytes) = SizesOf(address);
        var place = new PrivateFile(address, "ring-");
        // Everybody comes and goes under this lock: whoever is found to have the ring open stays until we have it open too.
        using var folder = place.LockFolder(deadline);
        place.Sweep();
        var existing = OpenExisting(place);
        if (existing is not null && !AnybodyElse(existing))
        {
            using (existing)
                place.Remove(existing); // its openers were all killed
            existing = null;
            place.Sweep();
        }
        var bytes = RingBlocks.FileBytes(count, blockBytes);
        var ring = new WindowsRingFile(place, existing ?? place.Make(bytes), address);
        try
        {
            if (existing is not null)
            {
                ring.MapExisting();
            }
            else
            {
                ring.SetMemory(place.Map(ring._file, bytes), bytes);
                ring.Format(address, count, blockBytes);
                NamedPlaces.MakeName((uint*)(ring.Memory + RingBlocks.WakeNameOffset));
            }
            ring.OpenPlaces();
            ring.TakeNumber();
            if (existing is null)
                place.Name(ring._file);
            return ring;
        }
        catch
        {
            ring.Release(last: false);
            throw;
        }
    }

    public static void RemoveName(IpcAddress address)
    {
        var place = new PrivateFile(address, "ring-");
        using var folder = place.LockFolder();
        bool openSomewhere;
        using (var existing = OpenExisting(place))
        {
            openSomewhere = existing is not null && AnybodyElse(existing);
            if (existing is not null)
                place.Remove(existing);
        }
        place.Sweep();
        if (!openSomewhere)
            throw new IpcException(IpcStatus.NoServer, $"nobody has a ring open at {address}: there is nothing to remove");
    }

    public override void Dispose()
    {
        try
        {
            using var folder = _place.LockFolder();
            Release(last: !AnybodyElse(_file)); // while the folder is locked: our number goes, and nobody sees it half gone
        }
        catch (IpcException)
        {
            Release(last: false); // without the lock the name is left to whoever opens it next
        }
    }

    protected override bool TrySign(uint number)
    {
        if (PrivateFile.TryLockNumber(_file, number))
            return true;
        return PrivateFile.IsTaken(Win32.LastError)
            ? false
            : throw Win32.Failure(IpcStatus.System, $"cannot lock a place in the ring {Address}", Win32.LastError);
    }

    protected override bool IsSigned(uint number) => PrivateFile.AreNumbersLocked(_file, number, 1);

    private static bool AnybodyElse(Win32Handle file) => PrivateFile.AreNumbersLocked(file, 1, RingState.MostOwners);

    // What stands at the name, null if nothing does. Under the folder's lock.
    private static Win32Handle? OpenExisting(PrivateFile place)
    {
        var file = place.Open();
        if (file is null)
            return null;
        // The magic alone tells whose file it is: what is not ours is not ours to remove.
        uint magic = 0;
        if (PrivateFile.ReadBeginning(file, (byte*)&magic, sizeof(uint)) && magic == RingBlocks.Magic)
            return file;
        file.Dispose();
        throw new IpcException(IpcStatus.NotOurProtocol, $"the file {place.Path} for {place.Address} is not a ring: move it away");
    }

    private void MapExisting()
    {
        var bytes = PrivateFile.BytesOf(_file);
        if (bytes is >= RingBlocks.HeaderBytes and <= long.MaxValue)
        {
            SetMemory(_place.Map(_file, bytes), bytes);
            if (ReadHeader())
                return;
        }
        throw Damaged(_place.Path);
    }

    private void OpenPlaces()
    {
        var name = stackalloc uint[4]; // our own copy
        new ReadOnlySpan<uint>(Memory + RingBlocks.WakeNameOffset, 4).CopyTo(new Span<uint>(name, 4));
        _places = new NamedPlaces(name);
        for (var side = 0; side < 2; side++)
        {
            var word = RingBlocks.ParkedIn(Memory, (RingSide)side);
            _places.Add(side, word, word + 1);
        }
    }

    private void Release(bool last)
    {
        _places?.Dispose();
        if (Memory != null)
            SharedMemoryPeer.Unmap(Memory, Bytes);
        Forget();
        if (last)
        {
            byte gone = 1;
            // By its handle: whatever stands at the name by now stays.
            _ = Win32.SetFileInformationByHandle(_file, Win32.FileDispositionInfo, &gone, sizeof(byte));
        }
        _file.Dispose();
    }
}
