using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>What message-only windows take of Windows.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32Messages
{
    public const uint WM_NULL = 0, WM_CLOSE = 0x10, WM_COPYDATA = 0x4A, WM_APP = 0x8000;
    public const uint PM_NOREMOVE = 0, PM_REMOVE = 1, QS_ALLINPUT = 0x4FF, QS_SENDMESSAGE = 0x40, PM_QS_SENDMESSAGE = QS_SENDMESSAGE << 16,
        MWMO_INPUTAVAILABLE = 4;
    public const uint INFINITE = 0xFFFFFFFF, WAIT_OBJECT_0 = 0, WAIT_FAILED = 0xFFFFFFFF;
    public const int ERROR_ACCESS_DENIED = 5, ERROR_INVALID_HANDLE = 6, ERROR_ALREADY_EXISTS = 183, ERROR_CLASS_ALREADY_EXISTS = 1410, ERROR_TIMEOUT = 1460;
    public const int GWLP_USERDATA = -21;
    public const nint HWND_MESSAGE = -3;

    [StructLayout(LayoutKind.Sequential)]
    public struct WindowClass
    {
        public uint Size;
        public uint Style;
        public delegate* unmanaged<nint, uint, nint, nint, nint> Procedure;
        public int ClassExtra;
        public int WindowExtra;
        public nint Module;
        public nint Icon;
        public nint Cursor;
        public nint Background;
        public char* Menu;
        public char* Name;
        public nint SmallIcon;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct CopyData
    {
        public nuint Data;
        public uint Length;
        public byte* Bytes;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Message
    {
        public nint Window;
        public uint Number;
        public nint First;
        public nint Second;
        public uint Time;
        public int X;
        public int Y;
        public uint Private;
    }

    [LibraryImport("kernel32")]
    public static partial nint GetModuleHandleW(nint name);

    [LibraryImport("kernel32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial SafeWaitHandle CreateMutexW(Win32.SecurityAttributes* security, int owned, string name);

    [LibraryImport("user32", SetLastError = true)]
    public static partial ushort RegisterClassExW(WindowClass* description);

    [LibraryImport("user32", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial nint CreateWindowExW(uint extended, string name, string title, uint style, int x, int y, int width, int height, nint parent,
        nint menu, nint module, nint parameter);

    [LibraryImport("user32")]
    public static partial int DestroyWindow(nint window);

    [LibraryImport("user32", StringMarshalling = StringMarshalling.Utf16)]
    public static partial nint FindWindowExW(nint parent, nint after, string name, string title);

    [LibraryImport("user32")]
    public static partial uint GetWindowThreadProcessId(nint window, uint* process);

    [LibraryImport("user32")]
    public static partial nint SetWindowLongPtrW(nint window, int index, nint value);

    [LibraryImport("user32")]
    public static partial nint GetWindowLongPtrW(nint window, int index);

    [LibraryImport("user32")]
    public static partial nint DefWindowProcW(nint window, uint message, nint first, nint second);

    [LibraryImport("user32", SetLastError = true)]
    public static partial nint SendMessageTimeoutW(nint window, uint message, nint first, nint second, uint flags, uint milliseconds, nuint* result);

    [LibraryImport("user32")]
    public static partial int SendNotifyMessageW(nint window, uint message, nint first, nint second);

    [LibraryImport("user32")]
    public static partial int PostMessageW(nint window, uint message, nint first, nint second);

    [LibraryImport("user32")]
    public static partial int GetMessageW(Message* message, nint window, uint lowest, uint highest);

    [LibraryImport("user32")]
    public static partial int PeekMessageW(Message* message, nint window, uint lowest, uint highest, uint remove);

    [LibraryImport("user32")]
    public static partial nint DispatchMessageW(Message* message);

    [LibraryImport("user32")]
    public static partial uint MsgWaitForMultipleObjectsEx(uint count, nint* handles, uint milliseconds, uint mask, uint flags);
}
