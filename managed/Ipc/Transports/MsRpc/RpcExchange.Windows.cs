using System.Buffers.Binary;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One exchange at the server, on the thread that rpcrt4 brought it on: the request's NDR is checked and read in place, the
/// reply's is written into rpcrt4's memory.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class RpcExchange : IReplySink
{
    // An array in a reply is behind a pointer; what number says so does not matter.
    private const uint Reference = 0x00020000;

    [ThreadStatic]
    private static RpcExchange? t_exchange;

    private Win32Rpc.Message* _message;
    private bool _answered;

    public static void Answer(Win32Rpc.Message* message)
    {
        var request = new ReadOnlySpan<byte>(message->Buffer, (int)message->BufferLength);
        if (request.Length < RpcCall.ExchangeHead || (message->DataRepresentation & 0xFFFF) != Win32Rpc.NDR_LOCAL_DATA_REPRESENTATION)
        {
            PutStatus(message, IpcStatus.NotOurProtocol);
            return;
        }
        var length = BinaryPrimitives.ReadUInt32LittleEndian(request[RpcCall.LengthAt..]);
        if (length != BinaryPrimitives.ReadUInt32LittleEndian(request[RpcCall.ArrayAt..]) || length > request.Length - RpcCall.ExchangeHead)
        {
            PutStatus(message, IpcStatus.NotOurProtocol);
            return;
        }
        if (RpcRuntime.Find(request[..RpcCall.TokenSize]) is not { } session)
        {
            PutStatus(message, IpcStatus.PeerClosed);
            return;
        }
        var exchange = t_exchange ??= new RpcExchange();
        exchange._message = message;
        exchange._answered = false;
        var kind = (FrameKind)BinaryPrimitives.ReadUInt32LittleEndian(request[16..]);
        var id = BinaryPrimitives.ReadUInt32LittleEndian(request[20..]);
        var status = session.Answer(kind, id, message->Buffer + RpcCall.ExchangeHead, length, exchange);
        if (!exchange._answered)
            PutStatus(message, kind == FrameKind.Request && status == IpcStatus.Ok ? IpcStatus.OutOfMemory : status);
    }

    public void Put(FrameKind kind, uint id, ReadOnlySpan<byte> reply)
    {
        var padded = (reply.Length + 3) & ~3;
        var empty = reply.IsEmpty;
        var size = empty ? RpcCall.EmptyReply : RpcCall.ReplyHead + padded + sizeof(uint);
        if (Room(_message, size) is var room && room.IsEmpty)
            return;
        BinaryPrimitives.WriteUInt32LittleEndian(room, (uint)kind);
        BinaryPrimitives.WriteInt32LittleEndian(room[4..], reply.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(room[8..], empty ? 0 : Reference);
        if (!empty)
        {
            BinaryPrimitives.WriteInt32LittleEndian(room[12..], reply.Length);
            reply.CopyTo(room[RpcCall.ReplyHead..]);
            room[(RpcCall.ReplyHead + reply.Length)..(RpcCall.ReplyHead + padded)].Clear();
        }
        BinaryPrimitives.WriteUInt32LittleEndian(room[(size - sizeof(uint))..], (uint)IpcStatus.Ok);
        _answered = true;
    }

    /// <summary>A reply without bytes: only a status.</summary>
    public static void PutStatus(Win32Rpc.Message* message, IpcStatus status)
    {
        var room = Room(message, RpcCall.EmptyReply);
        if (room.IsEmpty)
            return;
        room.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(room[12..], (uint)status);
    }

    // The reply's memory; empty if rpcrt4 has none. The request's stays until the call is over.
    private static Span<byte> Room(Win32Rpc.Message* message, int size)
    {
        message->BufferLength = (uint)size;
        return Win32Rpc.GetBuffer(message) == Win32Rpc.RPC_S_OK ? new Span<byte>(message->Buffer, size) : default;
    }
}
