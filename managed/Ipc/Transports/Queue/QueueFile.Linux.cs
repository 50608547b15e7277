using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A queue's file in the user's folder for shared memory; a number is held by an open-file-description lock.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class LinuxQueueFile : QueueFile
{
    private const int MostTries = 100;
    private const uint OwnerReadsAndWrites = 0b110_000_000;
    private const uint Others = 0b111_111;

    private readonly Descriptor _file;

    private LinuxQueueFile(Descriptor file, byte* memory, uint size) : base(memory, size) => _file = file;

    public static LinuxQueueFile OpenOrMake(IpcAddress address, uint size)
    {
        var (folder, name, path) = Find(address);
        using (folder)
        {
            var file = OpenOrMake(folder, name, path, size);
            LinuxQueueFile? opened = null;
            try
            {
                var found = Check(file, path);
                var bytes = (nuint)QueueLayout.HeaderBytes + found;
                var memory = Libc.Map(null, bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, file, 0);
                if (memory == -1)
                    throw Libc.Failure(Libc.LastError == Libc.ENOMEM ? IpcStatus.OutOfMemory : IpcStatus.System,
                        $"cannot map the {bytes} bytes of the queue {path}");
                opened = new LinuxQueueFile(file, (byte*)memory, found);
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

    public static void RemoveName(IpcAddress address)
    {
        var (folder, name, path) = Find(address);
        using (folder)
        {
            if (Libc.RemoveIn(folder, name))
                return;
            throw Libc.LastError == Libc.ENOENT
                ? new IpcException(IpcStatus.NoServer, $"no queue is named {address}: there is nothing to remove")
                : Libc.Failure(IpcStatus.System, $"cannot remove the queue {path}");
        }
    }

    // One byte of the file for each participant. The kernel does not ask whether the file has that byte.
    protected override bool TrySign(uint participant)
    {
        if (Libc.TryLockBytes(_file, participant, 1))
            return true;
        return Libc.LastError is Libc.EAGAIN or Libc.EACCES ? false : throw Libc.Failure(IpcStatus.System, "cannot lock a byte of the queue's file");
    }

    protected override bool IsSigned(uint participant) => Libc.AreBytesLocked(_file, participant, 1);

    protected override void Release(byte* memory)
    {
        _ = Libc.Unmap(memory, (nuint)QueueLayout.HeaderBytes + Size);
        _file.Dispose();
    }

    private static (Descriptor Folder, string Name, string Path) Find(IpcAddress address)
    {
        PlainName.Check(address);
        var folder = LocalNames.MemoryFolder;
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
                    throw new IpcException(IpcStatus.NotOurProtocol, $"{path} is a link, folder or socket, not a queue: remove it");
                case var error:
                    throw Libc.Failure(error == Libc.EACCES ? IpcStatus.NoPermission : IpcStatus.System, $"cannot open the queue {path}", error);
            }
        }
        throw new IpcException(IpcStatus.System, $"{path} is removed again and again while this process opens it");
    }

    // Makes the file without a name, completes it, then gives it the name: nobody ever opens a half-made one, and a process
    // killed here leaves nothing behind. Afterwards it is there, made by us or by somebody who was faster.
    private static void Make(Descriptor folder, string name, string path, uint size)
    {
        using var file = Libc.OpenNameless(folder, OwnerReadsAndWrites);
        // A very strict umask must not keep the other processes of this user out.
        if (file is null || Libc.ChangeMode(file, OwnerReadsAndWrites) != 0)
            throw Libc.Failure(IpcStatus.System, $"cannot make a file for the queue {path}");
        // Its memory is taken now: a full file system must refuse here, not kill whoever writes a message later.
        var error = Libc.TakeRoom(file, (long)QueueLayout.HeaderBytes + size);
        if (error is Libc.ENOSPC or Libc.ENOMEM)
            throw new IpcException(IpcStatus.OutOfMemory,
                $"there is no room for the queue {path} of {size} bytes: remove queues no longer used, or make a smaller one with size=");
        if (error != 0)
            throw Libc.Failure(IpcStatus.System, $"cannot take {size} bytes for the queue {path}", error);
        // Fresh memory is zero, which is every other word's first value.
        var form = stackalloc uint[4] { QueueLayout.Magic, QueueLayout.Version, size, 0 };
        var vector = new Libc.IoVector { Base = form, Length = QueueLayout.FormatBytes };
        if (Libc.Write(file, &vector, 1) != QueueLayout.FormatBytes)
            throw Libc.Failure(IpcStatus.System, $"cannot write the queue {path}");
        if (!Libc.NameIn(folder, name, file) && Libc.LastError != Libc.EEXIST)
            throw Libc.Failure(IpcStatus.System, $"cannot name the queue {path}");
    }

    // The file must be this user's alone, and as large as its form says: touching memory beyond a file's end kills the process.
    private static uint Check(Descriptor file, string path)
    {
        if (!Libc.GetStatus(file, out var status))
            throw Libc.Failure(IpcStatus.System, $"cannot look at the queue {path}");
        if (status.Kind != Libc.S_IFREG)
            throw new IpcException(IpcStatus.NotOurProtocol, $"{path} is not a queue: remove it");
        if (status.User != Libc.EffectiveUser() || (status.Mode & Others) != 0)
        {
            throw new IpcException(IpcStatus.NoPermission,
                $"the queue {path} belongs to another user or is open to others (mode {Convert.ToString(status.Mode & ~Libc.S_IFMT, 8)}): have it removed");
        }
        var form = stackalloc uint[4];
        if (Libc.Read(file, (byte*)form, QueueLayout.FormatBytes) != QueueLayout.FormatBytes || form[0] != QueueLayout.Magic)
            throw new IpcException(IpcStatus.NotOurProtocol, $"{path} is not a queue, or is damaged: remove it with RemoveQueue");
        if (form[1] != QueueLayout.Version)
        {
            throw new IpcException(IpcStatus.NotOurProtocol,
                $"the queue {path} was made by version {form[1]} of its format and this library has {QueueLayout.Version}: remove it");
        }
        return QueueLayout.IsSize(form[2]) && status.Size == (ulong)QueueLayout.HeaderBytes + form[2]
            ? form[2]
            : throw new IpcException(IpcStatus.NotOurProtocol, $"the queue {path} is truncated or damaged: remove it with RemoveQueue");
    }
}
