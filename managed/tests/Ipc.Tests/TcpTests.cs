using System.Net;
using System.Net.Sockets;

namespace Ipc.Tests;

public sealed class TcpTests
{
    [Theory]
    [InlineData("tcp://0")]
    [InlineData("tcp://localhost:0?max=1k")]
    [InlineData("tcp://[::1]:0")]
    [InlineData("tcp://0.0.0.0:0?users=any")]
    public void AListenerSaysWhichPortItHas(string address)
    {
        if (address.Contains("::1", StringComparison.Ordinal) && !Socket.OSSupportsIPv6)
            return;
        using var listener = ManagedIpc.Listen(address);
        Assert.StartsWith(address[..address.LastIndexOf('0')], listener.Address, StringComparison.Ordinal);
        Assert.DoesNotContain(":0", listener.Address, StringComparison.Ordinal);
        var connecting = Aside.Run(() => ManagedIpc.Connect(listener.Address.Replace("0.0.0.0", "127.0.0.1", StringComparison.Ordinal), Pair.Patience));
        using var server = listener.Accept(Pair.Patience);
        using var client = connecting.Join();
        client.Send([1, 2]);
        Assert.Equal(2, server.Receive(new byte[2], Pair.Patience));
        Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(listener.Address)));
    }

    [Fact]
    public void WhatAServerComplainsOfNamesThePortThatTheSystemChose()
    {
        using var listener = ManagedIpc.Listen("tcp://0");
        using var foreign = new TcpClient("127.0.0.1", int.Parse(listener.Address["tcp://".Length..], System.Globalization.CultureInfo.InvariantCulture));
        foreign.GetStream().Write([.. Enumerable.Repeat((byte)0xEE, 64)]);
        using var server = listener.Accept(Pair.Patience);
        var failure = Assert.Throws<IpcException>(() => server.Receive(new byte[2], Pair.Patience));
        Assert.Equal(IpcStatus.NotOurProtocol, failure.Status);
        Assert.Contains(listener.Address, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tcp://0.0.0.0:0")]
    [InlineData("tcp://192.0.2.1:5000")]
    public void BeyondTheMachineUsersMustBeAny(string address)
    {
        Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => ManagedIpc.Listen(address)));
        Assert.Equal(address.EndsWith(":0", StringComparison.Ordinal) ? IpcStatus.BadAddress : IpcStatus.BadOption,
            Pair.StatusOf(() => ManagedIpc.Connect(address)));
    }

    [Fact]
    public void AnUnknownHostIsNamed() =>
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Connect("tcp://no-such-host.invalid:5000?users=any")));

    [Fact]
    public void TheOwnersOfBothEndsAreFound()
    {
        using var listening = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listening.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listening.Listen();
        var server = (IPEndPoint)listening.LocalEndPoint!;
        var address = IpcAddress.Parse($"tcp://{server.Port}");
        using var socket = TcpSocket.Connect(server, address, new Deadline(Pair.Patience));
        // Before and after the server accepts.
        TcpUsers.CheckServer(TcpSocket.LocalEndPoint(socket), server, address, () => LocalSocket.PeerHasEnded(socket));
        using var accepted = listening.Accept();
        TcpUsers.CheckServer(TcpSocket.LocalEndPoint(socket), server, address, () => LocalSocket.PeerHasEnded(socket));
    }

    [Fact]
    public void AServerThatCannotBeFoundIsRefused()
    {
        using var pair = new Pair("tcp");
        using var socket = TcpSocket.Connect(IPEndPoint.Parse(pair.Address["tcp://".Length..].Insert(0, "127.0.0.1:")), IpcAddress.Parse(pair.Address),
            new Deadline(Pair.Patience));
        // Port 1 stands for a server outside of what the system's table shows.
        Assert.Equal(IpcStatus.NoPermission, Pair.StatusOf(() => TcpUsers.CheckServer(TcpSocket.LocalEndPoint(socket), new IPEndPoint(IPAddress.Loopback, 1),
            IpcAddress.Parse("tcp://1"), () => LocalSocket.PeerHasEnded(socket))));
    }

    [Fact]
    public void AMessageSentByAClientThatIsGoneIsStillAccepted()
    {
        using var listener = ManagedIpc.Listen("tcp://0");
        var sending = Aside.Run(() =>
        {
            using var client = ManagedIpc.Connect(listener.Address, Pair.Patience);
            client.Send([1, 2, 3]);
        });
        Thread.Sleep(50);
        using var server = listener.Accept(Pair.Patience);
        sending.Join();
        Assert.Equal(3, server.Receive(new byte[3], Pair.Patience));
    }

    // Between accepting a client and asking whose it is, a server may stand still for as long as it likes.
    [Fact]
    public void AClientThatHasOnlySentStaysUntilItsOwnerIsKnown()
    {
        using var listening = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listening.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listening.Listen();
        var client = ManagedIpc.Connect($"tcp://{((IPEndPoint)listening.LocalEndPoint!).Port}", Pair.Patience);
        client.Send([1, 2, 3]);
        using var accepted = listening.Accept();
        var gone = false;
        var leaving = Aside.Run(() =>
        {
            client.Dispose();
            Volatile.Write(ref gone, true);
        });
        Thread.Sleep(100);
        Assert.False(Volatile.Read(ref gone), "the client's socket was closed before the server could know whose it was");
        accepted.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
        leaving.Join();
    }

    [Fact]
    public void AnIPv6ServerThatServesIPv4IsFound()
    {
        if (!Socket.OSSupportsIPv6)
            return;
        using var listening = new Socket(AddressFamily.InterNetworkV6, SocketType.Stream, ProtocolType.Tcp) { DualMode = true };
        listening.Bind(new IPEndPoint(IPAddress.IPv6Any, 0));
        listening.Listen();
        using var client = ManagedIpc.Connect($"tcp://{((IPEndPoint)listening.LocalEndPoint!).Port}", Pair.Patience);
        using var accepted = listening.Accept();
        client.Send([1]);
        Assert.Equal(17, accepted.Receive(new byte[20]));
    }
}
