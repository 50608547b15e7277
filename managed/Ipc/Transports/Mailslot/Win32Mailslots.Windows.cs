using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>What mailslots take of Windows.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32Mailslots
{
    public const int ERROR_FILE_NOT_FOUND = 2, ERROR_PATH_NOT_FOUND = 3, ERROR_ACCESS_DENIED = 5, ERROR_NOT_ENOUGH_MEMORY = 8, ERROR_BROKEN_PIPE = 109,
        ERROR_SEM_TIMEOUT = 121, ERROR_ALREADY_EXISTS = 183, ERROR_OPERATION_ABORTED = 995, ERROR_IO_PENDING = 997, ERROR_NO_SYSTEM_RESOURCES = 1450,
        ERROR_NOT_ENOUGH_QUOTA = 1816;
    public const uint GENERIC_WRITE = 0x40000000, READ_CONTROL = 0x20000, FILE_SHARE_READ = 1, FILE_SHARE_WRITE = 2, OPEN_EXISTING = 3,
        FILE_FLAG_OVERLAPPED = 0x40000000;
    public const uint INFINITE = 0xFFFFFFFF, WAIT_OBJECT_0 = 0;

    [LibraryImport("kernel32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial SafeFileHandle CreateMailslotW(string name, uint most, uint patience, Win32.SecurityAttributes* security);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int SetMailslotInfo(SafeFileHandle slot, uint patience);

    [LibraryImport("kernel32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial SafeFileHandle CreateFileW(string name, uint access, uint share, nint security, uint disposition, uint flags, nint template);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int ReadFile(SafeFileHandle file, void* room, uint capacity, uint* count, NativeOverlapped* operation);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int WriteFile(SafeFileHandle file, void* bytes, uint length, uint* count, NativeOverlapped* operation);

    [LibraryImport("kernel32")]
    public static partial int CancelIoEx(SafeFileHandle file, NativeOverlapped* operation);

    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetOverlappedResult(SafeFileHandle file, NativeOverlapped* operation, uint* count, int wait);

    [LibraryImport("kernel32")]
    public static partial uint WaitForSingleObject(nint handle, uint milliseconds);
}
