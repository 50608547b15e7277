using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>One kernel handle of Windows; it is closed once nobody is inside a system call with it any more.</summary>
[SupportedOSPlatform("windows")]
internal sealed class Win32Handle : SafeHandleZeroOrMinusOneIsInvalid
{
    public Win32Handle() : base(ownsHandle: true) { }

    public Win32Handle(nint handle) : base(ownsHandle: true) => SetHandle(handle);

    protected override bool ReleaseHandle() => Win32.CloseHandle(handle) != 0;

    /// <summary>Keeps the handle open until <see cref="SafeHandle.DangerousRelease"/>; false when it has been closed.</summary>
    public bool TryAddRef()
    {
        var counted = false;
        try
        {
            DangerousAddRef(ref counted);
        }
        catch (ObjectDisposedException)
        {
            // Closed by another thread: nothing was counted.
        }
        return counted;
    }
}

/// <summary>Windows' calls that .NET has no API for, or none that waits as we need it: handles, events, overlapped reading and
/// writing. By topic: Win32.Pipes.cs, Win32.Users.cs.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32
{
    // Error numbers.
    public const int ERROR_FILE_NOT_FOUND = 2, ERROR_PATH_NOT_FOUND = 3, ERROR_ACCESS_DENIED = 5, ERROR_BROKEN_PIPE = 109, ERROR_PIPE_BUSY = 231,
        ERROR_NO_DATA = 232, ERROR_PIPE_NOT_CONNECTED = 233, ERROR_MORE_DATA = 234, ERROR_PIPE_CONNECTED = 535, ERROR_OPERATION_ABORTED = 995,
        ERROR_IO_PENDING = 997;

    /// <summary>What an operation's InternalLow is while it is under way (HasOverlappedIoCompleted).</summary>
    public const nint STATUS_PENDING = 0x103;

    // Waiting.
    public const uint INFINITE = uint.MaxValue, WAIT_OBJECT_0 = 0, WAIT_TIMEOUT = 258, WAIT_FAILED = uint.MaxValue;

    /// <summary>Whether this is Wine, whose own ntdll has a function that Windows' has not. For what must be done differently there, each
    /// case with its evidence in docs/windows.md.</summary>
    public static bool UnderWine { get; } = GetProcAddress(GetModuleHandleW("ntdll.dll"), "wine_get_version") != 0;

    /// <summary>How many of so many bytes go to the system in one write or message. Wine's server must take a request at once, because a thread that is
    /// still writing one is ended when another asks for its registers, as the garbage collector does: docs/windows.md, "Long requests".</summary>
    public static int MostAtOnce(int most)
    {
        const int TakenAtOnceByWine = 60 * 1024;
        return UnderWine ? Math.Min(most, TakenAtOnceByWine) : most;
    }

    [LibraryImport("kernel32", StringMarshalling = StringMarshalling.Utf16)]
    private static partial nint GetModuleHandleW(string name);
    [LibraryImport("kernel32", StringMarshalling = StringMarshalling.Utf8)]
    private static partial nint GetProcAddress(nint module, string name);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int CloseHandle(nint handle);
    [LibraryImport("kernel32", EntryPoint = "CreateEventW", SetLastError = true)]
    private static partial nint CreateEventCall(void* security, int manualReset, int initialState, char* name);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int SetEvent(Win32Handle handle);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int ResetEvent(Win32Handle handle);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial uint WaitForSingleObject(Win32Handle handle, uint milliseconds);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial uint WaitForMultipleObjects(uint count, nint* handles, int all, uint milliseconds);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int ReadFile(Win32Handle file, byte* buffer, uint length, uint* count, NativeOverlapped* operation);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int WriteFile(Win32Handle file, byte* buffer, uint length, uint* count, NativeOverlapped* operation);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int CancelIoEx(Win32Handle file, NativeOverlapped* operation);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetOverlappedResult(Win32Handle file, NativeOverlapped* operation, uint* count, int wait);

    /// <summary>The error number of the latest failed call on this thread.</summary>
    public static int LastError => Marshal.GetLastWin32Error();

    /// <summary>A failure in the system's own words, after an error message's beginning that says what was tried.</summary>
    public static IpcException Failure(IpcStatus status, string tried, int error) => new(status, $"{tried}: {ErrorText(error)}");

    /// <summary>The system's own words for an error number, with the number.</summary>
    public static string ErrorText(int error) => $"{new Win32Exception(error).Message.TrimEnd('.', ' ', '\r', '\n')} (error {error})";

    /// <summary>An event that stays set until it is reset; throws.</summary>
    public static Win32Handle CreateEvent()
    {
        var made = CreateEventCall(null, 1, 0, null);
        return made != 0 ? new Win32Handle(made) : throw Failure(IpcStatus.System, "cannot make an event", LastError);
    }

    /// <summary>Sets an event, or resets it, unless its owner has closed it.</summary>
    public static void SetOrReset(Win32Handle handle, bool set)
    {
        if (!handle.TryAddRef())
            return;
        _ = set ? SetEvent(handle) : ResetEvent(handle);
        handle.DangerousRelease();
    }

    /// <summary>A deadline as Windows' waits take it.</summary>
    public static uint LeftMilliseconds(Deadline deadline) => deadline.Forever ? INFINITE : (uint)deadline.LeftMilliseconds;

    /// <summary>Waits until one of the handles is signalled, which the caller keeps open: WAIT_OBJECT_0 plus its number, or
    /// WAIT_TIMEOUT; throws.</summary>
    public static uint WaitForAny(nint* handles, int count, Deadline deadline)
    {
        while (true)
        {
            var result = WaitForMultipleObjects((uint)count, handles, 0, LeftMilliseconds(deadline));
            if (result == WAIT_FAILED)
                throw Failure(IpcStatus.System, "cannot wait for an event", LastError);
            // The system counts in ticks, which may be over a little early.
            if (result != WAIT_TIMEOUT || deadline.Expired)
                return result;
        }
    }
}
