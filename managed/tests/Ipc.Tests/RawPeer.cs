using System.Buffers.Binary;
using System.Net.Sockets;

namespace Ipc.Tests;

/// <summary>A managed channel whose peer is a bare socket that can say anything.</summary>
internal sealed class RawPeer : IDisposable
{
    public const uint Magic = 0x31435049;

    private readonly IpcListener _listener;

    public Socket Socket { get; } = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    public IpcChannel Channel { get; }

    public RawPeer(string options = "")
    {
        var path = $"/tmp/ipc-test-{Guid.NewGuid():N}";
        _listener = ManagedIpc.Listen($"unix://{path}{options}");
        Socket.Connect(new UnixDomainSocketEndPoint(path));
        Channel = _listener.Accept(Pair.Patience);
    }

    public static byte[] Frame(uint kind, uint id, ReadOnlySpan<byte> payload, uint magic = Magic, uint? length = null)
    {
        var frame = new byte[16 + payload.Length];
        BinaryPrimitives.WriteUInt32LittleEndian(frame, magic);
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(4), length ?? (uint)payload.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), kind);
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(12), id);
        payload.CopyTo(frame.AsSpan(16));
        return frame;
    }

    public void Dispose()
    {
        Channel.Dispose();
        Socket.Dispose();
        _listener.Dispose();
    }
}
