using System.Net;
using System.Net.Sockets;

namespace Ipc.Conformance.Raw;

/// <summary>One end of a connection made without the library, for sending what the library never would.</summary>
internal sealed class RawConnection(Stream input, Stream output) : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    /// <summary>Connects as a client to a puppet's listener.</summary>
    /// <param name="transport">The transport's registry id.</param>
    /// <param name="address">As the listener gives it.</param>
    public static async Task<RawConnection> Connect(string transport, string address)
    {
        var name = address.Split("://")[1].Split('?')[0];
        if (transport == "fifo")
            return await RawFifo.Connect(name);
        EndPoint end = transport == "tcp" ? IPEndPoint.Parse(name) : new UnixDomainSocketEndPoint(Names.PathOf(transport, name));
        var socket = new Socket(end.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        await socket.ConnectAsync(end).WaitAsync(s_patience);
        return Of(socket);
    }

    public static RawConnection Of(Socket socket)
    {
        var stream = new NetworkStream(socket, ownsSocket: true);
        return new RawConnection(stream, stream);
    }

    public async Task Send(params byte[][] parts)
    {
        foreach (var part in parts)
        {
            await output.WriteAsync(part).AsTask().WaitAsync(s_patience);
            await output.FlushAsync();
        }
    }

    /// <summary>Exactly so many bytes.</summary>
    public async Task<byte[]> Receive(int count)
    {
        var bytes = new byte[count];
        await input.ReadExactlyAsync(bytes).AsTask().WaitAsync(s_patience);
        return bytes;
    }

    public void Dispose()
    {
        output.Dispose();
        input.Dispose();
    }
}
