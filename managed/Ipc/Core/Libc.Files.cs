using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Files in shared memory: made without a name, named when complete, and locked byte by byte.</summary>
internal static unsafe partial class Libc
{
    private const int GetOpenFileLock = 36, SetOpenFileLock = 37;
    private const short ExclusiveLock = 1, Unlocked = 2;

    /// <summary>struct flock of 64-bit Linux. The process must be 0 for locks that belong to the open file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct FileLock
    {
        public short Type;
        public short Whence; // 0: from the file's beginning
        public long Start;
        public long Length;
        public int Process;
    }

    [LibraryImport("libc", EntryPoint = "linkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int LinkAt(int folder, string path, Descriptor newFolder, string name, int flags);
    [LibraryImport("libc", EntryPoint = "posix_fallocate")]
    private static partial int Allocate(Descriptor file, long offset, long length);

    /// <summary>A file in this folder that has no name yet. Null with <see cref="LastError"/> set.</summary>
    public static Descriptor? OpenNameless(Descriptor folder, uint mode) => OpenIn(folder, ".", O_TMPFILE | O_RDWR, mode);

    /// <summary>Gives a nameless file made by <see cref="OpenNameless"/> its name. False with <see cref="LastError"/> set.</summary>
    public static bool NameIn(Descriptor folder, string name, Descriptor file)
    {
        var counted = false;
        try
        {
            file.DangerousAddRef(ref counted);
            return LinkAt(AtFdCwd, $"/proc/self/fd/{file.DangerousGetHandle()}", folder, name, AtSymlinkFollow) == 0;
        }
        finally
        {
            if (counted)
                file.DangerousRelease();
        }
    }

    /// <summary>Makes a file so long and takes its room now; 0 or an error number.</summary>
    public static int TakeRoom(Descriptor file, long length)
    {
        using var tooLarge = new HeldSignal(HeldSignal.FileSizeExceeded);
        int error;
        do
        {
            error = Allocate(file, 0, length);
        }
        while (error == EINTR);
        if (error == EFBIG)
            tooLarge.WasRaised();
        return error;
    }

    /// <summary>As ftruncate: false with an error number. Like <see cref="TakeRoom"/> it lets no SIGXFSZ end a program whose files are limited
    /// (ulimit -f).</summary>
    public static bool SetSize(Descriptor file, long length, out int error)
    {
        using var tooLarge = new HeldSignal(HeldSignal.FileSizeExceeded);
        error = Truncate(file, length) == 0 ? 0 : LastError;
        if (error == EFBIG)
            tooLarge.WasRaised();
        return error == 0;
    }

    /// <summary>Locks bytes for this open file, as long as it is open anywhere. False with <see cref="LastError"/> set if another has them.</summary>
    public static bool TryLockBytes(Descriptor file, long first, long count)
    {
        var request = new FileLock { Type = ExclusiveLock, Start = first, Length = count };
        return FileControl(file, SetOpenFileLock, (nint)(&request)) == 0;
    }

    /// <summary>Whether another open file has a lock on any of these bytes; true also when the system does not say.</summary>
    public static bool AreBytesLocked(Descriptor file, long first, long count)
    {
        var request = new FileLock { Type = ExclusiveLock, Start = first, Length = count };
        return FileControl(file, GetOpenFileLock, (nint)(&request)) != 0 || request.Type != Unlocked;
    }
}
