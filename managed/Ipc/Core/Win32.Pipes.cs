using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Named pipes.</summary>
internal static unsafe partial class Win32
{
    public const uint GENERIC_READ = 0x80000000, GENERIC_WRITE = 0x40000000, OPEN_EXISTING = 3;
    public const uint FILE_FLAG_OVERLAPPED = 0x40000000, FILE_FLAG_FIRST_PIPE_INSTANCE = 0x80000, SECURITY_SQOS_PRESENT = 0x100000,
        SECURITY_IDENTIFICATION = 0x10000;
    public const uint PIPE_ACCESS_INBOUND = 1, PIPE_ACCESS_DUPLEX = 3;
    public const uint PIPE_TYPE_BYTE = 0, PIPE_TYPE_MESSAGE = 4, PIPE_READMODE_BYTE = 0, PIPE_READMODE_MESSAGE = 2, PIPE_REJECT_REMOTE_CLIENTS = 8,
        PIPE_UNLIMITED_INSTANCES = 255;

    [LibraryImport("kernel32", EntryPoint = "CreateNamedPipeW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial nint CreateNamedPipeCall(string name, uint openMode, uint pipeMode, uint maxInstances, uint outSize, uint inSize, uint timeout,
        SecurityAttributes* security);
    [LibraryImport("kernel32", EntryPoint = "CreateFileW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial nint CreateFileCall(string name, uint access, uint share, void* security, uint disposition, uint flags, nint template);
    [LibraryImport("kernel32", EntryPoint = "WaitNamedPipeW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial int WaitNamedPipe(string name, uint milliseconds);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int ConnectNamedPipe(Win32Handle pipe, NativeOverlapped* operation);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetNamedPipeClientProcessId(Win32Handle pipe, uint* process);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetNamedPipeServerProcessId(Win32Handle pipe, uint* process);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int SetNamedPipeHandleState(Win32Handle pipe, uint* mode, uint* maxCollection, uint* collectTimeout);
    /// <summary>A new instance of a pipe; null with <see cref="LastError"/> set when it fails.</summary>
    public static Win32Handle? CreateNamedPipe(string name, uint openMode, uint pipeMode, uint maxInstances, uint bufferSize, OnlyThisUser security)
    {
        var attributes = security.Attributes;
        var made = CreateNamedPipeCall(name, openMode, pipeMode, maxInstances, bufferSize, bufferSize, 0, &attributes);
        return made is not (0 or -1) ? new Win32Handle(made) : null;
    }

    /// <summary>Opens a client's end, overlapped; the server may learn who we are but not act as us. Null with
    /// <see cref="LastError"/> set.</summary>
    public static Win32Handle? OpenPipe(string name)
    {
        var made = CreateFileCall(name, GENERIC_READ | GENERIC_WRITE, 0, null, OPEN_EXISTING,
            FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, 0);
        return made is not (0 or -1) ? new Win32Handle(made) : null;
    }
}
