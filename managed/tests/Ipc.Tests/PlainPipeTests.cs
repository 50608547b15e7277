using System.IO.Pipes;

namespace Ipc.Tests;

/// <summary>.NET's own named pipes on the other end, which know nothing of this library.</summary>
public sealed class PlainPipeTests
{
    [Fact]
    public void APlainPipeClientTalksToAListener()
    {
        var name = $"test-{Guid.NewGuid():N}";
        using var listener = ManagedIpc.Listen($"pipe://{name}");
        using var client = new NamedPipeClientStream(".", name, PipeDirection.InOut, PipeOptions.CurrentUserOnly);
        client.Connect(Pair.Patience);
        using var channel = listener.Accept(Pair.Patience);
        client.Write(RawPeer.Frame(2, 1, "ping"u8));
        Assert.True(channel.ReceiveRequest(Pair.Patience).SequenceEqual("ping"u8));
        channel.Reply("pong"u8);
        var reply = new byte[20];
        client.ReadExactly(reply);
        Assert.Equal(RawPeer.Frame(3, 1, "pong"u8), reply);
        client.Dispose();
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => channel.ReceiveRequest(Pair.Patience)));
    }

    [Fact]
    public void AChannelTalksToAPlainPipeServer()
    {
        var name = $"test-{Guid.NewGuid():N}";
        using var server = new NamedPipeServerStream(name, PipeDirection.InOut, 1, PipeTransmissionMode.Byte, PipeOptions.CurrentUserOnly);
        var waiting = Aside.Run(server.WaitForConnection);
        using var channel = ManagedIpc.Connect($"pipe://{name}", Pair.Patience);
        waiting.Join();
        var calling = Aside.Run(() =>
        {
            var reply = new byte[10];
            return reply.AsSpan(0, channel.Call("ping"u8, reply, Pair.Patience)).SequenceEqual("pong"u8);
        });
        var request = new byte[20];
        server.ReadExactly(request);
        Assert.Equal(RawPeer.Frame(2, 1, "ping"u8), request);
        server.Write(RawPeer.Frame(3, 1, "pong"u8));
        Assert.True(calling.Join());
        channel.Close();
        Assert.Equal(0, server.Read(request));
    }
}
