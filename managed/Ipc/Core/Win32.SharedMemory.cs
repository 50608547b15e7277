using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Sections, semaphores, handles of other processes: what sharing memory takes.</summary>
internal static unsafe partial class Win32
{
    public const uint PAGE_READWRITE = 4, SEC_COMMIT = 0x8000000, SEC_LARGE_PAGES = 0x80000000;
    public const uint FILE_MAP_WRITE = 2, FILE_MAP_READ = 4, FILE_MAP_LARGE_PAGES = 0x20000000;
    public const uint EVENT_MODIFY_STATE = 2, SYNCHRONIZE = 0x100000, PROCESS_DUP_HANDLE = 0x40;
    public const int ERROR_INVALID_HANDLE = 6, ERROR_NOT_ENOUGH_MEMORY = 8, ERROR_HANDLE_EOF = 38, ERROR_COMMITMENT_LIMIT = 1455;

    private const uint TOKEN_ADJUST_PRIVILEGES = 0x20, SE_PRIVILEGE_ENABLED = 2, MEM_COMMIT = 0x1000, MEM_MAPPED = 0x40000;

    [StructLayout(LayoutKind.Sequential)]
    private struct OnePrivilege
    {
        public uint Count;
        public uint Low;
        public int High;
        public uint Attributes;
    }

    [LibraryImport("kernel32", EntryPoint = "CreateFileMappingW", SetLastError = true)]
    private static partial nint CreateFileMappingCall(nint file, void* security, uint protection, uint high, uint low, char* name);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial void* MapViewOfFile(Win32Handle section, uint access, uint high, uint low, nuint bytes);
    [LibraryImport("kernel32")]
    public static partial int UnmapViewOfFile(void* view);
    [LibraryImport("kernel32", SetLastError = true)]
    private static partial nuint VirtualQuery(void* address, byte* region, nuint size);
    [LibraryImport("kernel32", EntryPoint = "K32GetMappedFileNameW", SetLastError = true)]
    private static partial uint GetMappedFileName(nint process, void* address, char* name, uint size);
    [LibraryImport("kernel32")]
    public static partial nuint GetLargePageMinimum();
    [LibraryImport("kernel32", EntryPoint = "CreateSemaphoreW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial nint CreateSemaphoreCall(SecurityAttributes* security, int count, int most, string name);
    [LibraryImport("kernel32")]
    public static partial int ReleaseSemaphore(Win32Handle handle, int count, int* before);
    [LibraryImport("kernel32", SetLastError = true)]
    private static partial int DuplicateHandle(Win32Handle process, nint handle, nint toProcess, nint* made, uint access, int inherit, uint options);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int PeekNamedPipe(Win32Handle pipe, void* bytes, uint size, uint* read, uint* available, uint* left);
    [LibraryImport("advapi32", EntryPoint = "LookupPrivilegeValueW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial int LookupPrivilegeValue(string? system, string name, uint* identifier);
    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int AdjustTokenPrivileges(Win32Handle token, int disableAll, OnePrivilege* wanted, uint size, void* before, void* needed);

    /// <summary>An event that lets one sleeper go and is unset then; throws.</summary>
    public static Win32Handle CreateAutoResetEvent()
    {
        var made = CreateEventCall(null, 0, 0, null);
        return made != 0 ? new Win32Handle(made) : throw Failure(IpcStatus.System, "cannot make an event", LastError);
    }

    /// <summary>The semaphore of this name, made if it is not there; throws.</summary>
    public static Win32Handle OpenSemaphore(string name, int most)
    {
        var attributes = OnlyThisUser.Instance.Attributes;
        var made = CreateSemaphoreCall(&attributes, 0, most, name);
        return made != 0 ? new Win32Handle(made) : throw Failure(IpcStatus.System, "cannot make a semaphore to sleep on", LastError);
    }

    /// <summary>A section of a file, or of none (-1); null with <see cref="LastError"/> set when it fails.</summary>
    public static Win32Handle? CreateSection(nint file, uint protection, ulong bytes)
    {
        var made = CreateFileMappingCall(file, null, protection, (uint)(bytes >> 32), (uint)bytes, null);
        return made != 0 ? new Win32Handle(made) : null;
    }

    /// <summary>Opens a process to copy handles out of it; null with <see cref="LastError"/> set when it fails.</summary>
    public static Win32Handle? OpenProcessForHandles(uint process)
    {
        var opened = OpenProcess(PROCESS_DUP_HANDLE, 0, process);
        return opened != 0 ? new Win32Handle(opened) : null;
    }

    /// <summary>A copy of another process's handle for this one; null when that process has none of this number.</summary>
    public static Win32Handle? CopyHandle(Win32Handle process, ulong number, uint access)
    {
        nint made = 0;
        // Handles have 32 bits on all systems.
        return number <= uint.MaxValue && DuplicateHandle(process, (nint)number, GetCurrentProcess(), &made, access, 0, 0) != 0 ? new Win32Handle(made) : null;
    }

    /// <summary>A second handle for what one of this process's own stands for; throws.</summary>
    public static nint CopyOwnHandle(Win32Handle handle)
    {
        const uint SameAccess = 2;
        nint made = 0;
        using var process = new Win32Handle(GetCurrentProcess());
        return DuplicateHandle(process, handle.DangerousGetHandle(), GetCurrentProcess(), &made, 0, 0, SameAccess) != 0
            ? made
            : throw Failure(IpcStatus.System, "cannot copy a handle", LastError);
    }

    /// <summary>The size of a view of a whole section; 0 if touching any of it could end this process: pages that are only reserved, or
    /// whose file's disk may fail (the page file is no file in this sense).</summary>
    public static ulong BytesOfSoundView(void* view)
    {
        // MEMORY_BASIC_INFORMATION: two pointers, one or two words, a size, and three words.
        var sizeAt = sizeof(nint) == 8 ? 24 : 12;
        var region = stackalloc byte[48];
        if (VirtualQuery(view, region, 48) < (nuint)(sizeAt + sizeof(nint) + 12))
            return 0;
        var words = (uint*)(region + sizeAt + sizeof(nint));
        const int NameSize = 8;
        var name = stackalloc char[NameSize];
        var ofFile = GetMappedFileName(GetCurrentProcess(), view, name, NameSize) != 0 || LastError == ERROR_INSUFFICIENT_BUFFER;
        return words[0] == MEM_COMMIT && words[1] == PAGE_READWRITE && words[2] == MEM_MAPPED && !ofFile ? *(nuint*)(region + sizeAt) : 0;
    }

    /// <summary>Large pages are for processes that may lock memory and have asked for that privilege.</summary>
    public static bool MayLockMemory()
    {
        nint opened = 0;
        if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES, &opened) == 0)
            return false;
        using var token = new Win32Handle(opened);
        var wanted = new OnePrivilege { Count = 1, Attributes = SE_PRIVILEGE_ENABLED };
        // Succeeds also when the user does not have the privilege; the error code alone tells.
        return LookupPrivilegeValue(null, "SeLockMemoryPrivilege", &wanted.Low) != 0 && AdjustTokenPrivileges(token, 0, &wanted, 0, null, null) != 0
            && LastError == 0;
    }

    /// <summary>Whether an error of a pipe means that its other end is gone.</summary>
    public static bool IsEndOfPipe(int error) =>
        error is ERROR_BROKEN_PIPE or ERROR_PIPE_NOT_CONNECTED or ERROR_NO_DATA or ERROR_HANDLE_EOF or ERROR_INVALID_HANDLE;
}
