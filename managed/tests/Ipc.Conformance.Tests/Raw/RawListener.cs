using System.Net;
using System.Net.Sockets;

namespace Ipc.Conformance.Raw;

/// <summary>A server made without the library, at the place where a puppet's client looks for one.</summary>
internal sealed class RawListener : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    private readonly string? _path;
    private readonly Socket? _socket;
    private readonly RawFifo.Handshake? _handshakeFifo;

    /// <param name="transport">The transport's registry id.</param>
    /// <param name="name">The case's name; tcp takes a port of the system's choice instead.</param>
    public RawListener(string transport, string name)
    {
        Address = $"{transport}://{name}";
        Names.MakePrivateFolder();
        if (transport == "fifo")
        {
            _handshakeFifo = new RawFifo.Handshake(name);
            return;
        }
        _path = transport == "tcp" ? null : Names.PathOf(transport, name);
        EndPoint end = _path is null ? new IPEndPoint(IPAddress.Loopback, 0) : new UnixDomainSocketEndPoint(_path);
        _socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        _socket.Bind(end);
        if (_path is null)
            Address = $"{transport}://{_socket.LocalEndPoint}";
        else
            File.SetUnixFileMode(_path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        _socket.Listen();
    }

    /// <summary>Where a client connects.</summary>
    public string Address { get; }

    public async Task<RawConnection> Accept() => _socket is null
        ? await _handshakeFifo!.Accept()
        : RawConnection.Of(await _socket.AcceptAsync().WaitAsync(s_patience));

    public void Dispose()
    {
        _socket?.Dispose();
        _handshakeFifo?.Dispose();
        if (_path is not null)
            File.Delete(_path);
    }
}
