using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One opening of a queue's file: the mapping, and this opening's number among the participants. The number is held by a
/// lock on that byte of the file (an open-file-description lock), which the kernel lets go when the process ends, however it
/// ends: so anybody can tell the living from the dead without trusting process numbers, which are used again.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class QueueFile : IDisposable
{
    private const string MemoryRoot = "/dev/shm";
    private const int MostTries = 100;
    private const int MostParticipantsTried = 1000;
    private const uint ParticipantMask = 0x7FFFFFFF;
    private const uint OwnerReadsAndWrites = 0b110_000_000;
    private const uint Others = 0b111_111;

    private readonly Descriptor _file;
    private byte* _memory;

    private QueueFile(Descriptor file, byte* memory, uint size)
    {
        (_file, Size) = (file, size);
        _memory = memory;
    }

    /// <summary>The header, and the data area behind it.</summary>
    public byte* Memory => _memory;
    /// <summary>Bytes of the data area: our own copy, checked.</summary>
    public uint Size { get; }
    /// <summary>This opening's number, 1 to 2^31 - 1.</summary>
    public uint Participant { get; private set; }

    /// <summary>Opens the queue, or makes it with <paramref name="size"/> bytes. The name appears when the file is complete.</summary>
    public static QueueFile Open(Address address, uint size)
    {
        var (folder, name, path) = Find(address);
        using (folder)
        {
            var file = OpenOrMake(folder, name, path, size);
            QueueFile? opened = null;
            try
            {
                var found = Check(file, path);
                var bytes = (nuint)QueueLayout.HeaderBytes + found;
                var memory = Libc.Map(null, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, file, 0);
                if (memory == -1)
                    throw Libc.Failure(Libc.LastError == Libc.ENOMEM ? Status.OutOfMemory : Status.System, $"cannot map the {bytes} bytes of the queue {path}");
                opened = new QueueFile(file, (byte*)memory, found);
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
    }

    /// <summary><see cref="Status.NoServer"/> if there is none.</summary>
    public static void Remove(Address address)
    {
        var (folder, name, path) = Find(address);
        using (folder)
        {
            if (Libc.RemoveIn(folder, name))
                return;
            throw Libc.LastError == Libc.ENOENT
                ? new IpcException(Status.NoServer, $"there is no queue {address} to remove")
                : Libc.Failure(Status.System, $"cannot remove the queue {path}");
        }
    }

    /// <summary>Whether a participant's process may still be there; true also when that cannot be known.</summary>
    public bool IsAlive(uint participant)
    {
        // A lock never stands in its own holder's way.
        return participant == Participant || Libc.AreBytesLocked(_file, participant, 1);
    }

    /// <summary>Unmaps, and lets go of the number; when nobody is inside.</summary>
    public void Dispose()
    {
        if (_memory != null)
            _ = Libc.Unmap(_memory, (nuint)QueueLayout.HeaderBytes + Size);
        _memory = null;
        _file.Dispose();
    }

    private static (Descriptor Folder, string Name, string Path) Find(Address address)
    {
        PlainName.Check(address);
        var folder = LocalNames.PrivateFolderUnder(MemoryRoot);
        var name = $"queue-{address.Name}";
        return (LocalNames.OpenFolder(folder), name, $"{folder}/{name}");
    }

    private static Descriptor OpenOrMake(Descriptor folder, string name, string path, uint size)
    {
        for (var tries = 0; tries < MostTries; tries++)
        {
            // Without waiting: what stands there could be a FIFO, and opening it must not hang.
            if (Libc.OpenIn(folder, name, Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_NONBLOCK) is { } file)
                return file;
            switch (Libc.LastError)
            {
                case Libc.ENOENT:
                    Make(folder, name, path, size);
                    break;
                case Libc.ELOOP or Libc.EISDIR or Libc.ENXIO:
                    throw new IpcException(Status.NotOurProtocol, $"{path} is no queue but a link, folder or socket: remove it");
                case var error:
                    throw Libc.Failure(error == Libc.EACCES ? Status.NoPermission : Status.System, $"cannot open the queue {path}", error);
            }
        }
        throw new IpcException(Status.System, $"{path} is removed again and again while this process opens it");
    }

    // Makes the file without a name, completes it, then gives it the name: nobody ever opens a half-made one, and a process
    // killed here leaves nothing behind. Afterwards it is there, made by us or by somebody who was faster.
    private static void Make(Descriptor folder, string name, string path, uint size)
    {
        using var file = Libc.OpenNameless(folder, OwnerReadsAndWrites);
        // A very strict umask must not keep the other processes of this user out.
        if (file is null || Libc.ChangeMode(file, OwnerReadsAndWrites) != 0)
            throw Libc.Failure(Status.System, $"cannot make a file for the queue {path}");
        // Its memory is taken now: a full file system must refuse here, not kill whoever writes a message later.
        var error = Libc.TakeRoom(file, (long)QueueLayout.HeaderBytes + size);
        if (error is Libc.ENOSPC or Libc.ENOMEM)
            throw new IpcException(Status.OutOfMemory, $"{MemoryRoot} has no room for a queue of {size} bytes: remove queues no longer used, or make a smaller one with size=");
        if (error != 0)
            throw Libc.Failure(Status.System, $"cannot take {size} bytes for the queue {path}", error);
        // Fresh memory is zero, which is every other word's first value.
        var form = stackalloc uint[4] { QueueLayout.Magic, QueueLayout.Version, size, 0 };
        var vector = new Libc.IoVector { Base = form, Length = QueueLayout.FormBytes };
        if (Libc.Write(file, &vector, 1) != QueueLayout.FormBytes)
            throw Libc.Failure(Status.System, $"cannot write the queue {path}");
        if (!Libc.NameIn(folder, name, file) && Libc.LastError != Libc.EEXIST)
            throw Libc.Failure(Status.System, $"cannot name the queue {path}");
    }

    // The file must be this user's alone, and as large as its form says: touching memory beyond a file's end kills the process.
    private static uint Check(Descriptor file, string path)
    {
        if (!Libc.GetStatus(file, out var status))
            throw Libc.Failure(Status.System, $"cannot look at the queue {path}");
        if (status.Kind != Libc.S_IFREG)
            throw new IpcException(Status.NotOurProtocol, $"{path} is no queue: remove it");
        if (status.User != Libc.EffectiveUser() || (status.Mode & Others) != 0)
        {
            throw new IpcException(Status.NoPermission,
                $"the queue {path} belongs to another user or is open to others (mode {Convert.ToString(status.Mode & ~Libc.S_IFMT, 8)}): have it removed");
        }
        var form = stackalloc uint[4];
        if (Libc.Read(file, (byte*)form, QueueLayout.FormBytes) != QueueLayout.FormBytes || form[0] != QueueLayout.Magic)
            throw new IpcException(Status.NotOurProtocol, $"{path} is no queue, or damaged: remove it with RemoveQueue");
        if (form[1] != QueueLayout.Version)
        {
            throw new IpcException(Status.NotOurProtocol,
                $"the queue {path} was made by version {form[1]} of its format and this library has {QueueLayout.Version}: remove it");
        }
        return QueueLayout.IsSize(form[2]) && status.Size == (ulong)QueueLayout.HeaderBytes + form[2]
            ? form[2]
            : throw new IpcException(Status.NotOurProtocol, $"the queue {path} is truncated or damaged: remove it with RemoveQueue");
    }

    private void BecomeParticipant(Address address)
    {
        for (var tries = 0; tries < MostParticipantsTried; tries++)
        {
            var number = (Interlocked.Increment(ref *(uint*)(_memory + QueueLayout.NextParticipant)) - 1) & ParticipantMask;
            // 0 is nobody. A number that a lock still names is a dead holder's: taking it would bring the holder back to life.
            if (number == 0 || Volatile.Read(ref *(uint*)(_memory + QueueLayout.WriterLock)) >> 1 == number ||
                Volatile.Read(ref *(uint*)(_memory + QueueLayout.ReaderLock)) >> 1 == number)
            {
                continue;
            }
            // One byte of the file for each participant. The kernel does not ask whether the file has that byte.
            if (Libc.TryLockBytes(_file, number, 1))
            {
                Participant = number;
                return;
            }
            if (Libc.LastError is not (Libc.EAGAIN or Libc.EACCES))
                throw Libc.Failure(Status.System, $"cannot take part in the queue {address}");
        }
        throw new IpcException(Status.System, $"another program keeps the file of the queue {address} locked: end it, or remove the queue");
    }
}
