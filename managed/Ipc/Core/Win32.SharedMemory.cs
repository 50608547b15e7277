using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One kernel handle of Windows; closed once nobody is inside a system call with it any more.</summary>
[SupportedOSPlatform("windows")]
internal sealed class KernelHandle : SafeHandle
{
    public KernelHandle() : base(0, ownsHandle: true) { }

    public KernelHandle(nint handle) : base(0, ownsHandle: true) => SetHandle(handle);

    public override bool IsInvalid => handle is 0 or -1;

    protected override bool ReleaseHandle() => Win32SharedMemory.CloseHandle(handle) != 0;
}

/// <summary>What shared memory takes of Windows: sections, events and semaphores, handles of other processes, and pipes as far as one is
/// held to learn of the other end's.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32SharedMemory
{
    public const uint PAGE_READWRITE = 4, SEC_COMMIT = 0x8000000, SEC_LARGE_PAGES = 0x80000000;
    public const uint FILE_MAP_WRITE = 2, FILE_MAP_READ = 4, FILE_MAP_LARGE_PAGES = 0x20000000;
    public const uint MEM_COMMIT = 0x1000, MEM_MAPPED = 0x40000;
    public const uint EVENT_MODIFY_STATE = 2, SYNCHRONIZE = 0x100000, PROCESS_DUP_HANDLE = 0x40;
    public const uint WAIT_OBJECT_0 = 0, WAIT_TIMEOUT = 258, WAIT_FAILED = 0xFFFFFFFF;
    public const int ERROR_INVALID_HANDLE = 6, ERROR_HANDLE_EOF = 38, ERROR_BROKEN_PIPE = 109, ERROR_INSUFFICIENT_BUFFER = 122, ERROR_NO_DATA = 232,
        ERROR_PIPE_NOT_CONNECTED = 233, ERROR_OPERATION_ABORTED = 995, ERROR_IO_PENDING = 997, ERROR_COMMITMENT_LIMIT = 1455;

    private const uint TokenQuery = 8, TokenAdjustPrivileges = 0x20, PrivilegeEnabled = 2;

    /// <summary>What VirtualQuery tells of a view (MEMORY_BASIC_INFORMATION of 64-bit processes).</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Region
    {
        public void* Base;
        public void* Allocation;
        public uint AllocationProtect;
        public uint Partition;
        public nuint Size;
        public uint State;
        public uint Protect;
        public uint Type;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct OnePrivilege
    {
        public uint Count;
        public uint Low;
        public int High;
        public uint Attributes;
    }

    [LibraryImport("kernel32")]
    public static partial int CloseHandle(nint handle);

    [LibraryImport("kernel32", EntryPoint = "CreateFileMappingW", SetLastError = true)]
    public static partial KernelHandle CreateFileMapping(nint file, void* security, uint protection, uint high, uint low, char* name);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial void* MapViewOfFile(SafeHandle section, uint access, uint high, uint low, nuint bytes);

    [LibraryImport("kernel32")]
    public static partial int UnmapViewOfFile(void* view);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial nuint VirtualQuery(void* address, Region* region, nuint size);

    [LibraryImport("kernel32", EntryPoint = "K32GetMappedFileNameW", SetLastError = true)]
    public static partial uint GetMappedFileName(nint process, void* address, char* name, uint size);

    [LibraryImport("kernel32")]
    public static partial nuint GetLargePageMinimum();

    [LibraryImport("kernel32", EntryPoint = "CreateEventW", SetLastError = true)]
    public static partial KernelHandle CreateEvent(void* security, int manual, int set, char* name);

    [LibraryImport("kernel32")]
    public static partial int SetEvent(SafeHandle handle);

    [LibraryImport("kernel32")]
    public static partial int ResetEvent(SafeHandle handle);

    [LibraryImport("kernel32", EntryPoint = "CreateSemaphoreW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial KernelHandle CreateSemaphore(void* security, int count, int most, string name);

    [LibraryImport("kernel32")]
    public static partial int ReleaseSemaphore(SafeHandle handle, int count, int* before);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial uint WaitForSingleObject(SafeHandle handle, uint milliseconds);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial uint WaitForMultipleObjects(uint count, nint* handles, int all, uint milliseconds);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial KernelHandle OpenProcess(uint access, int inherit, uint process);

    [LibraryImport("kernel32")]
    public static partial nint GetCurrentProcess();

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial int DuplicateHandle(SafeHandle process, nint handle, nint toProcess, nint* made, uint access, int inherit, uint options);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetNamedPipeServerProcessId(SafeHandle pipe, uint* process);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int PeekNamedPipe(SafeHandle pipe, void* bytes, uint size, uint* read, uint* available, uint* left);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int ReadFile(SafeHandle file, void* bytes, uint length, uint* read, NativeOverlapped* step);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int WriteFile(SafeHandle file, void* bytes, uint length, uint* written, NativeOverlapped* step);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int CancelIoEx(SafeHandle file, NativeOverlapped* step);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetOverlappedResult(SafeHandle file, NativeOverlapped* step, uint* moved, int wait);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int OpenProcessToken(nint process, uint access, nint* token);

    [LibraryImport("advapi32", EntryPoint = "LookupPrivilegeValueW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial int LookupPrivilegeValue(string? system, string name, uint* identifier);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int AdjustTokenPrivileges(SafeHandle token, int disableAll, OnePrivilege* wanted, uint size, void* before, void* needed);

    public static int LastError => Marshal.GetLastPInvokeError();

    /// <summary>An exception that says what was tried and what the system said.</summary>
    public static IpcException Failure(Status status, string tried) => Failure(status, tried, LastError);

    /// <summary>The same for an error known already.</summary>
    public static IpcException Failure(Status status, string tried, int error) =>
        new(status, $"{tried}: {new Win32Exception(error).Message.TrimEnd('.', ' ')} (error {error})");

    /// <summary>A nameless event; throws.</summary>
    public static KernelHandle NewEvent(bool manual)
    {
        var made = CreateEvent(null, manual ? 1 : 0, 0, null);
        return made.IsInvalid ? throw Failure(Status.System, "cannot make an event") : made;
    }

    /// <summary>A copy of another process's handle for this one; null when that process has none of this number.</summary>
    public static KernelHandle? CopyHandle(SafeHandle process, ulong number, uint access)
    {
        nint made = 0;
        // Handles have 32 bits on all systems.
        return number <= uint.MaxValue && DuplicateHandle(process, (nint)number, GetCurrentProcess(), &made, access, 0, 0) != 0 ? new KernelHandle(made) : null;
    }

    /// <summary>Large pages are for processes that may lock memory and have asked for that privilege.</summary>
    public static bool MayLockMemory()
    {
        nint opened = 0;
        if (OpenProcessToken(GetCurrentProcess(), TokenQuery | TokenAdjustPrivileges, &opened) == 0)
            return false;
        using var token = new KernelHandle(opened);
        var wanted = new OnePrivilege { Count = 1, Attributes = PrivilegeEnabled };
        // Succeeds also when the user does not have the privilege; the error code alone tells.
        return LookupPrivilegeValue(null, "SeLockMemoryPrivilege", &wanted.Low) != 0 && AdjustTokenPrivileges(token, 0, &wanted, 0, null, null) != 0 && LastError == 0;
    }

    /// <summary>Whether an error of a pipe means that its other end is gone.</summary>
    public static bool IsEndOfPipe(int error) => error is ERROR_BROKEN_PIPE or ERROR_PIPE_NOT_CONNECTED or ERROR_NO_DATA or ERROR_HANDLE_EOF or ERROR_INVALID_HANDLE;
}
