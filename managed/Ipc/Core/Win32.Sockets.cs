using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Sockets, beside what System.Net.Sockets does: waiting for them together with events, and the table of whose they are.</summary>
internal static unsafe partial class Win32
{
    public const int AF_INET = 2, AF_INET6 = 23, TCP_TABLE_OWNER_PID_ALL = 5, ERROR_INSUFFICIENT_BUFFER = 122;
    public const int FD_WRITE = 2, FD_ACCEPT = 8, FD_CONNECT = 16, FD_CLOSE = 32, FD_CONNECT_BIT = 4;

    [StructLayout(LayoutKind.Sequential)]
    public struct SocketBuffer
    {
        public uint Length;
        public byte* Data;
    }

    /// <summary>WSANETWORKEVENTS: what happened, then an error number for each kind.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NetworkEvents
    {
        public int Happened;
        public fixed int Errors[10];
    }

    [LibraryImport("ws2_32", EntryPoint = "WSARecv", SetLastError = true)]
    public static partial int ReceiveSocket(nint socket, SocketBuffer* buffers, uint count, uint* received, uint* flags, NativeOverlapped* operation,
        void* routine);
    [LibraryImport("ws2_32", EntryPoint = "WSASend", SetLastError = true)]
    public static partial int SendSocket(nint socket, SocketBuffer* buffers, uint count, uint* sent, uint flags, NativeOverlapped* operation, void* routine);
    [LibraryImport("ws2_32", EntryPoint = "WSAGetOverlappedResult", SetLastError = true)]
    public static partial int GetSocketResult(nint socket, NativeOverlapped* operation, uint* count, int wait, uint* flags);
    [LibraryImport("ws2_32", EntryPoint = "WSAEventSelect", SetLastError = true)]
    public static partial int SelectEvents(nint socket, Win32Handle happened, int events);
    [LibraryImport("ws2_32", EntryPoint = "WSAEnumNetworkEvents", SetLastError = true)]
    public static partial int EnumerateEvents(nint socket, nint happened, NetworkEvents* events);
    [LibraryImport("kernel32", EntryPoint = "CancelIoEx", SetLastError = true)]
    public static partial int CancelSocket(nint socket, NativeOverlapped* operation);
    [LibraryImport("iphlpapi")]
    public static partial uint GetExtendedTcpTable(void* table, uint* size, int sorted, uint family, int kind, uint reserved);

    /// <summary>How long a socket's event is waited for before the socket itself is looked at again (docs/windows.md, "Events of
    /// sockets").</summary>
    private const int SocketSliceMilliseconds = 100;

    /// <summary>WaitForAny where one of the events is a socket's. False when the deadline has passed; else the caller looks at everything
    /// again, for it also ends when some time has passed without an event.</summary>
    public static bool WaitForSocket(nint* handles, int count, Deadline deadline)
    {
        var slice = new Deadline(deadline.SliceMilliseconds(SocketSliceMilliseconds));
        return WaitForAny(handles, count, slice) != WAIT_TIMEOUT || !deadline.Expired;
    }
}
