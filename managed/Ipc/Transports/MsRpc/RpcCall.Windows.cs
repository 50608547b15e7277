using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>What an exchange brought back; the bytes lie in the call's memory.</summary>
internal unsafe struct RpcExchanged
{
    public IpcStatus Status;
    public FrameKind Kind;
    public byte* Bytes;
    public uint Length;
}

/// <summary>One call by hand: the NDR of idl/ipc.idl, docs/wire-formats.md "MS-RPC", through rpcrt4's raw functions, which give statuses
/// where stubs raise structured exceptions that must not reach managed code. Used again for call after call; one thread. Twin of
/// native/src/msrpc/call_win32.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class RpcCall
{
    public const uint ProcedureOpen = 0, ProcedureExchange = 1, ProcedureClose = 2;
    public const int TokenSize = 16, ContextSize = 20, ExchangeHead = 32, LengthAt = 24, ArrayAt = 28;
    /// <summary>An exchange's reply before its bytes, and one without.</summary>
    public const int ReplyHead = 16, EmptyReply = 16;

    // rpcrt4 keeps a pointer to it for as long as connections live: it is never freed.
    private static readonly Win32Rpc.Interface* s_interface = MakeInterface();

    private readonly Win32Rpc.Message* _message = (Win32Rpc.Message*)NativeMemory.AllocZeroed((nuint)sizeof(Win32Rpc.Message));
    private bool _holds; // memory that is to be given back

    public static Win32Rpc.Interface Describe() => new()
    {
        Length = (uint)sizeof(Win32Rpc.Interface),
        InterfaceId = new Win32Rpc.Syntax(new Guid("7d9cc6a4-1f0e-4b53-9a3c-5b8d0e6f2c41"), 1, 0),
        TransferSyntax = new Win32Rpc.Syntax(new Guid("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2, 0),
    };

    private static Win32Rpc.Interface* MakeInterface()
    {
        var made = (Win32Rpc.Interface*)NativeMemory.AllocZeroed((nuint)sizeof(Win32Rpc.Interface));
        *made = Describe();
        return made;
    }

    /// <summary>Room for a request of so many bytes; gives back what the call before held.</summary>
    public int Begin(nint binding, uint procedure, int length)
    {
        Reset();
        *_message = new Win32Rpc.Message
        {
            Handle = binding,
            DataRepresentation = Win32Rpc.NDR_LOCAL_DATA_REPRESENTATION,
            ProcNum = procedure | Win32Rpc.RPC_FLAGS_VALID_BIT, // here and not in Flags, where the same bit means asynchronous
            InterfaceInformation = s_interface,
            BufferLength = (uint)length,
        };
        var status = Win32Rpc.GetBuffer(_message);
        _holds = status == Win32Rpc.RPC_S_OK;
        return status;
    }

    public Span<byte> Request(int length) => new(_message->Buffer, length);

    /// <summary>Blocks until the reply is there. A status that is not RPC_S_OK ends the call.</summary>
    public int Send()
    {
        // A call that fails has given the memory back already.
        _holds = false;
        var status = Win32Rpc.SendReceive(_message);
        _holds = status == Win32Rpc.RPC_S_OK;
        return status;
    }

    public ReadOnlySpan<byte> Reply => new(_message->Buffer, (int)_message->BufferLength);

    /// <summary>Whether the peer's numbers are ours: little-endian.</summary>
    public bool IsPlain => (_message->DataRepresentation & 0xFFFF) == Win32Rpc.NDR_LOCAL_DATA_REPRESENTATION;

    public void Reset()
    {
        if (_holds)
            Win32Rpc.FreeBuffer(_message);
        _holds = false;
    }

    /// <summary>Gives everything back; nobody uses it any more.</summary>
    public void Release()
    {
        Reset();
        NativeMemory.Free(_message);
    }

    /// <summary>What comes before the bytes of an exchange: token, kind, id, length, and length once more as the array's.</summary>
    public static void WriteExchangeHead(Span<byte> to, ReadOnlySpan<byte> token, FrameKind kind, uint id, int length)
    {
        token.CopyTo(to);
        BinaryPrimitives.WriteUInt32LittleEndian(to[16..], (uint)kind);
        BinaryPrimitives.WriteUInt32LittleEndian(to[20..], id);
        BinaryPrimitives.WriteInt32LittleEndian(to[LengthAt..], length);
        BinaryPrimitives.WriteInt32LittleEndian(to[ArrayAt..], length);
    }

    /// <summary>reply_kind, reply_length, a reference that is 0 or leads to the array's length and bytes, and aligned to 4 the status.</summary>
    public int ReadExchanged(out RpcExchanged exchanged)
    {
        exchanged = default;
        var reply = Reply;
        if (reply.Length < EmptyReply || !IsPlain)
            return Win32Rpc.RPC_X_BAD_STUB_DATA;
        exchanged.Kind = (FrameKind)BinaryPrimitives.ReadUInt32LittleEndian(reply);
        exchanged.Length = BinaryPrimitives.ReadUInt32LittleEndian(reply[4..]);
        long statusAt = 12;
        if (BinaryPrimitives.ReadUInt32LittleEndian(reply[8..]) == 0)
        {
            if (exchanged.Length != 0)
                return Win32Rpc.RPC_X_BAD_STUB_DATA;
        }
        else
        {
            statusAt = (ReplyHead + (long)exchanged.Length + 3) & ~3L;
            if (BinaryPrimitives.ReadUInt32LittleEndian(reply[12..]) != exchanged.Length || statusAt + 4 > reply.Length)
                return Win32Rpc.RPC_X_BAD_STUB_DATA;
            exchanged.Bytes = _message->Buffer + ReplyHead;
        }
        exchanged.Status = (IpcStatus)BinaryPrimitives.ReadInt32LittleEndian(reply[(int)statusAt..]);
        return Win32Rpc.RPC_S_OK;
    }
}
