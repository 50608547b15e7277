using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Files in shared memory: made without a name, named when complete, and locked byte by byte.</summary>
internal static unsafe partial class Libc
{
    private const int OpenTemporary = 0x400000;
    private const int AtSymlinkFollow = 0x400;
    private const int GetOpenFileLock = 36, SetOpenFileLock = 37;
    private const short ExclusiveLock = 1, Unlocked = 2;

    public const int ENOMEM = 12, ENOSPC = 28;

    /// <summary>struct flock of 64-bit Linux. The process must be 0 for locks that belong to the open file.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct FileLock
    {
        public short Type;
        public short Whence;
        public long Start;
        public long Length;
        public int Process;
    }

    [LibraryImport("libc", EntryPoint = "posix_fallocate")]
    private static partial int AllocateCall(Descriptor file, long offset, long length);
    [LibraryImport("libc", EntryPoint = "linkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int LinkAt(int fromFolder, string from, int toFolder, string to, int flags);

    /// <summary>A file in this folder that has no name yet, the owner's alone. Null with <see cref="LastError"/> set.</summary>
    public static Descriptor? OpenUnnamed(string folder)
    {
        var descriptor = OpenCall(folder, OpenTemporary | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0b110_000_000);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>Gives a file made by <see cref="OpenUnnamed"/> its name, unless something has it. False with <see cref="LastError"/> set.</summary>
    public static bool Name(Descriptor file, string path) =>
        LinkAt(AtFdCwd, $"/proc/self/fd/{file.DangerousGetHandle()}", AtFdCwd, path, AtSymlinkFollow) == 0; // the caller keeps the file open

    /// <summary>Makes sure that the file's bytes are there, not only its length. An error number, 0 for success.</summary>
    public static int Allocate(Descriptor file, long bytes) => AllocateCall(file, 0, bytes);

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

    /// <summary>Wakes one of those who sleep on the word.</summary>
    public static void WakeOne(uint* word) => Futex(s_futex, word, FutexWake, 1, null, null, 0);
}
