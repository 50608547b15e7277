using System.Buffers.Binary;
using System.Runtime.Versioning;
using static Ipc.Win32Com;

namespace Ipc;

/// <summary>What passes through COM, docs/wire-formats.md "COM": frames as arrays of bytes, and statuses as results.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class ComFrames
{
    public const int Version = 1;
    private const int HeaderSize = 16;
    private const uint Magic = 0x31435049;
    private const int FirstStatus = unchecked((int)0x80040200);

    /// <summary>The header of frames on streams, then the payload. Null: no memory.</summary>
    public static SafeArray* Make(FrameKind kind, uint id, ReadOnlySpan<byte> payload)
    {
        if (payload.Length > int.MaxValue - HeaderSize)
            return null;
        var array = SafeArrayCreateVector(VT_UI1, 0, (uint)(HeaderSize + payload.Length));
        if (array == null)
            return null;
        var bytes = new Span<byte>(array->Data, HeaderSize + payload.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteInt32LittleEndian(bytes[4..], payload.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[8..], (uint)kind);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[12..], id);
        payload.CopyTo(bytes[HeaderSize..]);
        return array;
    }

    /// <summary>False if the value is no such array. The payload lies in the array, which must stay.</summary>
    public static bool TryRead(in Variant value, out CallReply frame)
    {
        frame = default;
        var array = (SafeArray*)value.Value;
        if (value.Type != (VT_ARRAY | VT_UI1) || array == null || array->Dimensions != 1 || array->ElementSize != 1 || array->Count < HeaderSize)
            return false;
        var header = new ReadOnlySpan<byte>(array->Data, HeaderSize);
        var kind = BinaryPrimitives.ReadUInt32LittleEndian(header[8..]);
        var length = BinaryPrimitives.ReadUInt32LittleEndian(header[4..]);
        if (BinaryPrimitives.ReadUInt32LittleEndian(header) != Magic || kind is < 1 or > 4 || length != array->Count - HeaderSize)
            return false;
        frame = new CallReply
        {
            Kind = (FrameKind)kind,
            Id = BinaryPrimitives.ReadUInt32LittleEndian(header[12..]),
            Bytes = array->Data + HeaderSize,
            Length = length
        };
        return true;
    }

    /// <summary>How the server tells a status: a failure of FACILITY_ITF.</summary>
    public static int ToResult(IpcStatus status) => FirstStatus + (int)status;

    /// <summary>What a failed call means to a client.</summary>
    public static IpcException ToFailure(int result, IpcAddress address)
    {
        var status = StatusOf(result);
        var errorMessage = status switch
        {
            IpcStatus.OutOfMemory => $"out of memory for a message to or from {address}: send smaller ones",
            IpcStatus.NotOurProtocol => $"the object behind {address} does not take our calls: it is another's, or of another version",
            IpcStatus.NoPermission => $"the object behind {address} belongs to another user: run both as the same",
            IpcStatus.PeerClosed => $"the server at {address} has closed or died: reconnect",
            _ => $"a COM call to {address} failed: {Win32.ErrorText(result)}",
        };
        return new IpcException(status, errorMessage);
    }

    public static IpcStatus StatusOf(int result) => (uint)result switch
    {
        0x8007000E => IpcStatus.OutOfMemory, // E_OUTOFMEMORY
        0x80020003 or 0x80020005 or 0x80020006 or 0x8002000E or 0x80040200 + (uint)IpcStatus.NotOurProtocol => IpcStatus.NotOurProtocol, // DISP_E_...
        0x80070005 or 0x80040200 + (uint)IpcStatus.NoPermission => IpcStatus.NoPermission, // E_ACCESSDENIED
        // RPC_E_SERVER_DIED, RPC_E_SERVER_DIED_DNE, RPC_E_DISCONNECTED, CO_E_OBJNOTCONNECTED, RPC_S_SERVER_UNAVAILABLE, RPC_S_CALL_FAILED,
        // RPC_S_CALL_FAILED_DNE
        0x80010007 or 0x80010012 or 0x80010108 or 0x800401FD or 0x800706BA or 0x800706BE or 0x800706BF => IpcStatus.PeerClosed,
        > 0x80040200 and < 0x80040300 => IpcStatus.PeerClosed,
        _ => IpcStatus.System,
    };

    /// <summary>The moniker of an address's name; the caller owns it.</summary>
    public static int MakeMoniker(IpcAddress address, out nint moniker)
    {
        nint made = 0;
        var result = CreateItemMoniker("!", $"ipc.{Win32.ThisUser}.{address.Name}", &made);
        moniker = made;
        return result;
    }

    /// <summary>Calls a method by its name; the arguments in the order written.</summary>
    public static int Call(nint dispatch, string name, ReadOnlySpan<Variant> arguments, out Variant result)
    {
        Guid none = default;
        int number;
        int failed;
        Variant given = default;
        fixed (char* text = name)
        {
            var names = text;
            failed = ((delegate* unmanaged<nint, Guid*, char**, uint, uint, int*, int>)Method(dispatch, 5))(dispatch, &none, &names, 1, 0x400, &number);
        }
        if (failed >= 0)
        {
            var reversed = stackalloc Variant[4];
            for (var i = 0; i < arguments.Length; i++)
                reversed[arguments.Length - 1 - i] = arguments[i];
            var all = new Arguments { Values = reversed, Count = (uint)arguments.Length };
            failed = ((delegate* unmanaged<nint, int, Guid*, uint, ushort, Arguments*, Variant*, nint, nint, int>)Method(dispatch, 6))(
                dispatch, number, &none, 0x400, DISPATCH_METHOD, &all, &given, 0, 0);
        }
        result = given;
        return failed;
    }

    private const uint Infinite = 0xFFFFFFFF;

    /// <summary>Waits for the first of two handles in a thread's apartment: one for single threads serves the calls that come meanwhile.
    /// 0 or 1; the second may be 0.</summary>
    public static int Wait(bool singleThreaded, nint first, nint second)
    {
        var handles = stackalloc nint[] { first, second };
        var count = second != 0 ? 2u : 1u;
        if (!singleThreaded)
            return Win32.WaitForMultipleObjects(count, handles, 0, Infinite) == 1 ? 1 : 0;
        while (true)
        {
            var woken = Win32Messages.MsgWaitForMultipleObjectsEx(count, handles, Infinite, Win32Messages.QS_ALLINPUT, Win32Messages.MWMO_INPUTAVAILABLE);
            if (woken is 0 or 0xFFFFFFFF)
                return 0;
            if (woken == 1 && count == 2)
                return 1;
            ServeMessages();
        }
    }

    /// <summary>In an apartment for single threads: serves the calls that come until nobody else holds the object, or its client's process
    /// has ended.</summary>
    /// <remarks>A call is a message to this thread. One that is posted while the thread leaves the apartment is answered by nobody under
    /// Wine, and its caller waits for ever; who has given all references back makes no more.</remarks>
    public static void ServeWhileHeld(DispatchObject made, nint client)
    {
        while (made.IsHeldElsewhere
               && Win32Messages.MsgWaitForMultipleObjectsEx(1, &client, Infinite, Win32Messages.QS_ALLINPUT, Win32Messages.MWMO_INPUTAVAILABLE) == 1)
            ServeMessages();
    }

    private static void ServeMessages()
    {
        Win32Messages.Message message;
        while (Win32Messages.PeekMessageW(&message, 0, 0, 0, Win32Messages.PM_REMOVE) != 0)
            _ = Win32Messages.DispatchMessageW(&message);
    }
}
