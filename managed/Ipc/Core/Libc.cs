using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>One open file descriptor; it is closed once nobody is inside a system call with it any more.</summary>
[SupportedOSPlatform("linux")]
internal sealed class Descriptor : SafeHandleMinusOneIsInvalid
{
    public Descriptor() : base(ownsHandle: true) { }

    public Descriptor(int descriptor, bool owns = true) : base(owns) => SetHandle((nint)descriptor);

    protected override bool ReleaseHandle() => Libc.Close((int)handle) == 0;
}

/// <summary>The system's calls that .NET has no API for: sending from several places at once, waiting without a second call,
/// locks, FIFOs, shared memory, futexes. Numbers and layouts are those that x86-64 and arm64 Linux share.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe partial class Libc
{
    // Error numbers.
    public const int EPERM = 1, ENOENT = 2, EINTR = 4, ENXIO = 6, EAGAIN = 11, ENOMEM = 12, EACCES = 13, EEXIST = 17, ENOTDIR = 20, EISDIR = 21, EINVAL = 22,
        ENFILE = 23, EMFILE = 24, EFBIG = 27, ENOSPC = 28,
        EROFS = 30, EPIPE = 32,
        ELOOP = 40, ENONET = 64, EPROTO = 71, EPROTOTYPE = 91, ENOPROTOOPT = 92, EOPNOTSUPP = 95, EADDRINUSE = 98, EADDRNOTAVAIL = 99, ENETDOWN = 100,
        ENETUNREACH = 101, ECONNABORTED = 103, ECONNRESET = 104, ENOBUFS = 105, ETIMEDOUT = 110,
        ECONNREFUSED = 111, EHOSTDOWN = 112, EHOSTUNREACH = 113, EINPROGRESS = 115;

    // Sockets.
    public const int AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, NETLINK_SOCK_DIAG = 4, SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3,
        SOCK_NONBLOCK = 0x800, SOCK_CLOEXEC = 0x80000, SHUT_RDWR = 2;
    public const int SOL_SOCKET = 1, SO_REUSEADDR = 2, SO_ERROR = 4, SO_PEERCRED = 17, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21, SCM_RIGHTS = 1, IPPROTO_TCP = 6,
        TCP_NODELAY = 1, TCP_KEEPIDLE = 4, TCP_KEEPINTVL = 5, TCP_KEEPCNT = 6, TCP_USER_TIMEOUT = 18, SO_KEEPALIVE = 9,
        IPPROTO_IPV6 = 41, IPV6_V6ONLY = 26;
    public const int MSG_PEEK = 2, MSG_CTRUNC = 8, MSG_DONTWAIT = 0x40, MSG_WAITALL = 0x100, MSG_NOSIGNAL = 0x4000, MSG_CMSG_CLOEXEC = 0x40000000;
    public const short POLLIN = 1, POLLOUT = 4, POLLERR = 8, POLLHUP = 0x10, POLLRDHUP = 0x2000;

    // Files.
    public const int O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_NONBLOCK = 0x800, O_CLOEXEC = 0x80000, O_PATH = 0x200000;
    public static readonly int O_DIRECTORY = Arm ? 0x4000 : 0x10000, O_NOFOLLOW = Arm ? 0x8000 : 0x20000;
    public static readonly int O_TMPFILE = 0x400000 | O_DIRECTORY;
    public const int LOCK_EX = 2, LOCK_NB = 4;
    public const int F_DUPFD_CLOEXEC = 1030, F_GETFL = 3, F_SETFL = 4, F_ADD_SEALS = 1033, F_GET_SEALS = 1034, F_SEAL_SEAL = 1, F_SEAL_SHRINK = 2,
        F_SEAL_GROW = 4, F_SEAL_FUTURE_WRITE = 16;
    public const uint S_IFMT = 0xF000, S_IFIFO = 0x1000, S_IFDIR = 0x4000, S_IFREG = 0x8000, S_IFLNK = 0xA000, S_IFSOCK = 0xC000, S_IWOTH = 2;

    // Memory and waiting.
    public const uint MFD_CLOEXEC = 1, MFD_ALLOW_SEALING = 2, MFD_HUGETLB = 4;
    public const int PROT_READ = 1, PROT_WRITE = 2, MAP_SHARED = 1, MAP_FIXED = 0x10, MADV_POPULATE_WRITE = 23;
    private const int FutexWait = 0, FutexWake = 1;
    private const int AtFdCwd = -100, AtSymlinkNoFollow = 0x100, AtSymlinkFollow = 0x400, AtEmptyPath = 0x1000;
    private const uint StatxBasic = 0x7FF;

    private static bool Arm => RuntimeInformation.ProcessArchitecture == Architecture.Arm64;
    private static readonly nint s_futex = Arm ? 98 : 202;

    [StructLayout(LayoutKind.Sequential)]
    public struct PollEntry
    {
        public int Descriptor;
        public short Events;
        public short Returned;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct IoVector
    {
        public void* Base;
        public nuint Length;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct MessageHeader
    {
        public void* Name;
        public uint NameLength;
        public IoVector* Vectors;
        public nuint VectorCount;
        public void* Control;
        public nuint ControlLength;
        public int Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct TimeValue
    {
        public long Seconds;
        /// <summary>Microseconds in a timeval, nanoseconds in a timespec.</summary>
        public long Fraction;
    }

    /// <summary>The beginning of struct statx; the kernel fills 256 bytes.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    public struct FileStatus
    {
        [FieldOffset(4)] public uint BlockSize; // of a memory file: its page size
        [FieldOffset(20)] public uint User;
        [FieldOffset(28)] public ushort Mode;
        [FieldOffset(32)] public ulong Inode;
        [FieldOffset(40)] public ulong Size;
        [FieldOffset(136)] public uint DeviceMajor;
        [FieldOffset(140)] public uint DeviceMinor;

        public readonly uint Kind => Mode & S_IFMT;
        public readonly FileIdentity Identity => new(DeviceMajor, DeviceMinor, Inode);
    }

    [LibraryImport("libc", EntryPoint = "socket", SetLastError = true)]
    private static partial int SocketCall(int domain, int type, int protocol);
    [LibraryImport("libc", EntryPoint = "bind", SetLastError = true)]
    public static partial int Bind(Descriptor socket, byte* address, uint length);
    [LibraryImport("libc", EntryPoint = "listen", SetLastError = true)]
    public static partial int Listen(Descriptor socket, int backlog);
    [LibraryImport("libc", EntryPoint = "accept4", SetLastError = true)]
    private static partial int Accept4(Descriptor socket, byte* address, uint* length, int flags);
    [LibraryImport("libc", EntryPoint = "connect", SetLastError = true)]
    public static partial int Connect(Descriptor socket, byte* address, uint length);
    [LibraryImport("libc", EntryPoint = "shutdown", SetLastError = true)]
    public static partial int Shutdown(Descriptor socket, int how);
    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    public static partial int SetSocketOption(Descriptor socket, int level, int option, void* value, uint length);
    [LibraryImport("libc", EntryPoint = "getsockopt", SetLastError = true)]
    public static partial int GetSocketOption(Descriptor socket, int level, int option, void* value, uint* length);
    [LibraryImport("libc", EntryPoint = "getsockname", SetLastError = true)]
    public static partial int GetSocketName(Descriptor socket, byte* address, uint* length);
    [LibraryImport("libc", EntryPoint = "getpeername", SetLastError = true)]
    public static partial int GetPeerName(Descriptor socket, byte* address, uint* length);
    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    public static partial nint SendMessage(Descriptor socket, MessageHeader* message, int flags);
    [LibraryImport("libc", EntryPoint = "recvmsg", SetLastError = true)]
    public static partial nint ReceiveMessage(Descriptor socket, MessageHeader* message, int flags);
    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(Descriptor socket, byte* buffer, nuint length, int flags);
    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    private static partial int PollCall(PollEntry* entries, nuint count, int timeoutMilliseconds);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenCall(string path, int flags, uint mode);
    [LibraryImport("libc", EntryPoint = "openat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenAtCall(Descriptor folder, string name, int flags, uint mode);
    [LibraryImport("libc", EntryPoint = "unlinkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int UnlinkAt(Descriptor folder, string name, int flags);
    [LibraryImport("libc", EntryPoint = "close")]
    public static partial int Close(int descriptor);
    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    public static partial nint Read(Descriptor file, byte* buffer, nuint length);
    [LibraryImport("libc", EntryPoint = "writev", SetLastError = true)]
    public static partial nint Write(Descriptor file, IoVector* vectors, int count);
    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    public static partial int FileControl(Descriptor file, int command, nint argument);
    [LibraryImport("libc", EntryPoint = "fchmod", SetLastError = true)]
    public static partial int ChangeMode(Descriptor file, uint mode);
    [LibraryImport("libc", EntryPoint = "flock", SetLastError = true)]
    public static partial int Lock(Descriptor file, int operation);
    [LibraryImport("libc", EntryPoint = "mkfifo", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int MakeFifo(string path, uint mode);
    [LibraryImport("libc", EntryPoint = "mkdir", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int MakeFolder(string path, uint mode);
    [LibraryImport("libc", EntryPoint = "unlink", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Unlink(string path);
    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Statx(int folder, string path, int flags, uint mask, FileStatus* status);
    [LibraryImport("libc", EntryPoint = "geteuid")]
    public static partial uint EffectiveUser();
    [LibraryImport("libc", EntryPoint = "getpwuid_r")]
    public static partial int FindUser(uint user, byte** entry, byte* text, nuint length, byte*** found);

    [LibraryImport("libc", EntryPoint = "memfd_create", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int MemoryFile(string name, uint flags);
    [LibraryImport("libc", EntryPoint = "ftruncate", SetLastError = true)]
    public static partial int Truncate(Descriptor file, long length);
    [LibraryImport("libc", EntryPoint = "mmap", SetLastError = true)]
    public static partial nint Map(void* where, nuint length, int protection, int flags, Descriptor file, long offset);
    [LibraryImport("libc", EntryPoint = "madvise", SetLastError = true)]
    public static partial int Advise(void* memory, nuint length, int advice);
    [LibraryImport("libc", EntryPoint = "munmap", SetLastError = true)]
    public static partial int Unmap(void* where, nuint length);
    [LibraryImport("libc", EntryPoint = "syscall", SetLastError = true)]
    private static partial nint Futex(nint number, uint* word, nint operation, nint value, TimeValue* timeout, void* second, nint third);
    [LibraryImport("libc", EntryPoint = "sched_yield")]
    public static partial int Yield();
    [LibraryImport("libc", EntryPoint = "sched_getaffinity", SetLastError = true)]
    public static partial int GetAffinity(int process, nuint length, ulong* mask);

    /// <summary>The error number of the latest failed call on this thread.</summary>
    [LibraryImport("libc", EntryPoint = "pthread_sigmask")]
    public static partial int SetSignals(int how, ulong* set, ulong* before);
    [LibraryImport("libc", EntryPoint = "sigpending")]
    public static partial int PendingSignals(ulong* set);
    [LibraryImport("libc", EntryPoint = "sigtimedwait", SetLastError = true)]
    public static partial int WaitForSignal(ulong* set, void* about, long* time);

    public static int LastError => Marshal.GetLastPInvokeError();

    /// <summary>A failure in the system's own words, after an error message's beginning that says what was tried.</summary>
    public static IpcException Failure(IpcStatus status, string tried) => Failure(status, tried, LastError);

    /// <summary>The same for an error number kept from earlier.</summary>
    public static IpcException Failure(IpcStatus status, string tried, int error) => new(status, $"{tried}: {Marshal.GetPInvokeErrorMessage(error)}");

    /// <summary>A new socket, closed on exec; throws.</summary>
    public static Descriptor Socket(int domain, int type, string forWhat)
    {
        var descriptor = SocketCall(domain, type | SOCK_CLOEXEC, 0);
        return descriptor >= 0 ? new Descriptor(descriptor) : throw Failure(IpcStatus.System, $"cannot make a socket for {forWhat}");
    }

    /// <summary>A socket to ask the system by; null when it has none to give.</summary>
    public static Descriptor? NetlinkSocket(int protocol)
    {
        var descriptor = SocketCall(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>The next connection, blocking and closed on exec; null with <see cref="LastError"/> set when there is none.</summary>
    public static Descriptor? Accept(Descriptor listener)
    {
        var descriptor = Accept4(listener, null, null, SOCK_CLOEXEC);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>Another descriptor of the same file, closed on exec; null with <see cref="LastError"/> set when there is none to be had.</summary>
    public static Descriptor? Duplicate(Descriptor file)
    {
        var descriptor = FileControl(file, F_DUPFD_CLOEXEC, 0);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>Whether a failure passes when somebody gives something back: no descriptor, no buffer, no memory.</summary>
    public static bool IsShortage(int error) => error is EMFILE or ENFILE or ENOBUFS or ENOMEM;

    /// <summary>Null with <see cref="LastError"/> set when it fails.</summary>
    public static Descriptor? Open(string path, int flags)
    {
        var descriptor = OpenCall(path, flags | O_CLOEXEC, 0);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>The same for a name in an open folder; <paramref name="mode"/> is that of a file this makes.</summary>
    public static Descriptor? OpenIn(Descriptor folder, string name, int flags, uint mode = 0)
    {
        var descriptor = OpenAtCall(folder, name, flags | O_CLOEXEC, mode);
        return descriptor >= 0 ? new Descriptor(descriptor) : null;
    }

    /// <summary>Removes a name. False with <see cref="LastError"/> set.</summary>
    public static bool RemoveIn(Descriptor folder, string name) => UnlinkAt(folder, name, 0) == 0;

    /// <summary>An empty sealable file in memory; throws.</summary>
    public static Descriptor CreateMemoryFile(string name, uint flags = 0)
    {
        var descriptor = MemoryFile(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
        return descriptor >= 0 ? new Descriptor(descriptor) : throw Failure(IpcStatus.System, "cannot make a shared memory file");
    }

    /// <summary>What stands at a path, without following a last link. False with <see cref="LastError"/> set.</summary>
    public static bool GetStatus(string path, out FileStatus status)
    {
        fixed (FileStatus* p = &status)
            return Statx(AtFdCwd, path, AtSymlinkNoFollow, StatxBasic, p) == 0;
    }

    /// <summary>The same, following links.</summary>
    public static bool GetStatusOfTarget(string path, out FileStatus status)
    {
        fixed (FileStatus* p = &status)
            return Statx(AtFdCwd, path, 0, StatxBasic, p) == 0;
    }

    /// <summary>The same for an open file.</summary>
    public static bool GetStatus(Descriptor file, out FileStatus status)
    {
        var counted = false;
        try
        {
            file.DangerousAddRef(ref counted);
            fixed (FileStatus* p = &status)
                return Statx((int)file.DangerousGetHandle(), "", AtEmptyPath, StatxBasic, p) == 0;
        }
        finally
        {
            if (counted)
                file.DangerousRelease();
        }
    }

    /// <summary>Waits until one of the events (or an error or hang-up) is there; what is there, 0 after the time-out or a signal.</summary>
    public static short Poll(Descriptor file, short events, int timeoutMilliseconds)
    {
        var counted = false;
        try
        {
            file.DangerousAddRef(ref counted);
            var entry = new PollEntry { Descriptor = (int)file.DangerousGetHandle(), Events = events };
            return PollCall(&entry, 1, timeoutMilliseconds) > 0 ? entry.Returned : (short)0;
        }
        finally
        {
            if (counted)
                file.DangerousRelease();
        }
    }

    /// <summary>The same for two descriptors at once; at least one of the results is not 0 unless the time is over or a signal came.</summary>
    public static (short First, short Second) PollTwo(Descriptor first, short firstEvents, Descriptor second, short secondEvents, int timeoutMilliseconds)
    {
        bool countedFirst = false, countedSecond = false;
        try
        {
            first.DangerousAddRef(ref countedFirst);
            second.DangerousAddRef(ref countedSecond);
            var entries = stackalloc PollEntry[2];
            entries[0] = new PollEntry { Descriptor = (int)first.DangerousGetHandle(), Events = firstEvents };
            entries[1] = new PollEntry { Descriptor = (int)second.DangerousGetHandle(), Events = secondEvents };
            return PollCall(entries, 2, timeoutMilliseconds) > 0 ? (entries[0].Returned, entries[1].Returned) : ((short)0, (short)0);
        }
        finally
        {
            if (countedFirst)
                first.DangerousRelease();
            if (countedSecond)
                second.DangerousRelease();
        }
    }

    /// <summary>The same for any number of descriptors, which the caller keeps open; how many have something, negative after a failure.</summary>
    public static int PollMany(ReadOnlySpan<PollEntry> entries, int timeoutMilliseconds)
    {
        fixed (PollEntry* all = entries)
            return PollCall(all, (nuint)entries.Length, timeoutMilliseconds);
    }

    /// <summary>Sleeps while the word is <paramref name="value"/>, until woken, at most so long. False after the whole time.</summary>
    public static bool SleepOn(uint* word, uint value, int milliseconds)
    {
        var time = new TimeValue { Seconds = milliseconds / 1000, Fraction = milliseconds % 1000 * 1_000_000L };
        return Futex(s_futex, word, FutexWait, (nint)value, &time, null, 0) == 0 || LastError != ETIMEDOUT;
    }

    /// <summary>Wakes everybody who sleeps on the word.</summary>
    public static void WakeAll(uint* word) => Wake(word, int.MaxValue);

    /// <summary>Wakes up to so many who sleep on the word; returns how many there were.</summary>
    public static int Wake(uint* word, int count) => (int)Futex(s_futex, word, FutexWake, count, null, null, 0);
}

/// <summary>What tells one file from another for as long as it exists.</summary>
internal readonly record struct FileIdentity(uint DeviceMajor, uint DeviceMinor, ulong Inode);
