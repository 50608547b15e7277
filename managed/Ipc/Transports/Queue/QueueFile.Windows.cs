using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A queue's file in the private folder of Windows, and the semaphores that stand for its words.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsQueueFile : QueueFile
{
    private readonly PrivateFile _place;
    private readonly Win32Handle _file;
    private readonly NamedPlaces _places;

    private WindowsQueueFile(PrivateFile place, Win32Handle file, byte* memory, uint size) : base(memory, size)
    {
        (_place, _file) = (place, file);
        var name = stackalloc uint[4]; // our own copy
        new ReadOnlySpan<uint>(memory + QueueLayout.WakeName, 4).CopyTo(new Span<uint>(name, 4));
        _places = new NamedPlaces(name);
    }

    public static WindowsQueueFile OpenOrMake(IpcAddress address, uint size, Deadline deadline)
    {
        var place = new PrivateFile(address, "queue-");
        using var folder = place.LockFolder(deadline);
        place.Sweep();
        var file = place.Open() ?? Make(place, size);
        WindowsQueueFile? opened = null;
        try
        {
            var found = Check(file, place);
            opened = new WindowsQueueFile(place, file, place.Map(file, (ulong)QueueLayout.HeaderBytes + found), found);
            // The semaphores' numbers are part of their names.
            opened.SleepOn(0, QueueLayout.WriterLock, null);
            opened.SleepOn(1, QueueLayout.ReaderLock, null);
            opened.SleepOn(2, QueueLayout.ReadersParked, opened.Word(QueueLayout.ReadersWoken));
            opened.SleepOn(3, QueueLayout.WritersParked, opened.Word(QueueLayout.WritersWoken));
            opened.BecomeParticipant(address);
            return opened;
        }
        catch
        {
            opened?.Dispose();
            file.Dispose();
            throw;
        }
    }

    public static void RemoveName(IpcAddress address)
    {
        var place = new PrivateFile(address, "queue-");
        using var folder = place.LockFolder();
        using (var file = place.Open() ?? throw new IpcException(IpcStatus.NoServer, $"no queue is named {address}: there is nothing to remove"))
            place.Remove(file);
        place.Sweep();
    }

    protected override bool TrySign(uint participant)
    {
        if (PrivateFile.TryLockNumber(_file, participant))
            return true;
        return PrivateFile.IsTaken(Win32.LastError) ? false : throw Win32.Failure(IpcStatus.System, "cannot lock a byte of the queue's file", Win32.LastError);
    }

    protected override bool IsSigned(uint participant) => PrivateFile.AreNumbersLocked(_file, participant, 1);

    protected override void Release(byte* memory)
    {
        _places.Dispose();
        SharedMemoryPeer.Unmap(memory, 0);
        _file.Dispose();
        _place.Sweep(); // removed meanwhile, it may go now
    }

    private uint* Word(int offset) => (uint*)(Memory + offset);

    private void SleepOn(int index, int offset, uint* wakesOfAll) => _places.Add(index, Word(offset), wakesOfAll);

    // Complete before it has its name: nobody ever opens a half-made one.
    private static Win32Handle Make(PrivateFile place, uint size)
    {
        var file = place.Make((ulong)QueueLayout.HeaderBytes + size);
        try
        {
            const int Bytes = QueueLayout.WakeName + NamedPlaces.NameBytes;
            var beginning = stackalloc uint[Bytes / sizeof(uint)];
            new Span<byte>(beginning, Bytes).Clear(); // fresh memory is zero, which is every other word's first value
            (beginning[0], beginning[1], beginning[2]) = (QueueLayout.Magic, QueueLayout.Version, size);
            NamedPlaces.MakeName(beginning + (QueueLayout.WakeName / sizeof(uint)));
            if (!PrivateFile.WriteBeginning(file, (byte*)beginning, Bytes))
                throw Win32.Failure(IpcStatus.System, $"cannot write the queue {place.Path}", Win32.LastError);
            place.Name(file);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    private static uint Check(Win32Handle file, PrivateFile place)
    {
        var form = stackalloc uint[4];
        if (!PrivateFile.ReadBeginning(file, (byte*)form, QueueLayout.FormatBytes) || form[0] != QueueLayout.Magic)
            throw new IpcException(IpcStatus.NotOurProtocol, $"{place.Path} is not a queue, or is damaged: remove it with RemoveQueue");
        if (form[1] != QueueLayout.Version)
        {
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the queue {place.Path} was made by version {form[1]} of its format and this library has {QueueLayout.Version}: remove it");
        }
        return QueueLayout.IsSize(form[2]) && PrivateFile.BytesOf(file) == (ulong)QueueLayout.HeaderBytes + form[2]
            ? form[2]
            : throw new IpcException(IpcStatus.NotOurProtocol, $"the queue {place.Path} is truncated or damaged: remove it with RemoveQueue");
    }
}
