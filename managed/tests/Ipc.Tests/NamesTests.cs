using System.Net.Sockets;

namespace Ipc.Tests;

/// <summary>What stands in the file system, whose it is, and when it goes.</summary>
public sealed class NamesTests
{
    private static readonly string s_private = LocalNames.PrivateFolder;

    public static TheoryData<string> Named => ["unix", "pipe", "fifo", "shm", "shm-event"];

    private static (string Address, string Path) New(string transport)
    {
        var name = $"test-{Guid.NewGuid():N}";
        var path = transport == "pipe"
            ? Path.Combine(Path.GetTempPath(), "CoreFxPipe_" + name)
            : $"{s_private}/{(transport == "shm-event" ? "event" : transport)}-{name}";
        return ($"{transport}://{name}", path);
    }

    /// <summary>Leaves what a server killed outright leaves.</summary>
    private static void LeaveDeadName(string transport, string path)
    {
        if (transport == "fifo")
        {
            Assert.Equal(0, FifoNames.Make(path));
            return;
        }
        using var socket = Libc.Socket(Libc.AF_UNIX, Libc.SOCK_STREAM, path);
        using var address = new SocketAddress(new LocalName(path, path));
        unsafe
        {
            fixed (byte* p = address.Bytes)
                Assert.Equal(0, Libc.Bind(socket, p, (uint)address.Bytes.Length));
        }
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void ANameBelongsToItsOwnerAloneAndGoesWithTheListener(string transport)
    {
        var (address, path) = New(transport);
        using (var listener = ManagedIpc.Listen(address))
        {
            Assert.True(Libc.GetStatus(path, out var status));
            Assert.Equal(Libc.EffectiveUser(), status.User);
            Assert.Equal(0b110_000_000u, status.Mode & ~Libc.S_IFMT);
            var connecting = Aside.Run(() => ManagedIpc.Connect(address, Pair.Patience));
            using var server = listener.Accept(Pair.Patience);
            using var client = connecting.Join();
        }
        Assert.Empty(Directory.GetFiles(Path.GetDirectoryName(path)!, Path.GetFileName(path) + "*"));
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void OfAListenerThatNobodyDisposesTheNameGoesToo(string transport)
    {
        var (address, path) = New(transport);
        // On a thread of its own, so that nothing keeps the listener but what is tested.
        Aside.Run(() => { _ = ManagedIpc.Listen(address); }).Join();
        Pair.Until(() =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            return !Libc.GetStatus(path, out _);
        });
        using var next = ManagedIpc.Listen(address);
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void ADeadNameIsRemovedByAClient(string transport)
    {
        var (address, path) = New(transport);
        LeaveDeadName(transport, path);
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.Connect(address, Pair.Patience)));
        Assert.False(Libc.GetStatus(path, out _));
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void ADeadNameIsTakenOverByAListener(string transport)
    {
        var (address, path) = New(transport);
        LeaveDeadName(transport, path);
        using (ManagedIpc.Listen(address))
            Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(address)));
        Assert.False(Libc.GetStatus(path, out _));
    }

    // A client of fifo makes names of its own, under the lock.
    [Fact]
    public void AnotherProcessThatKeepsTheLockDoesNotOutlastATimeOut()
    {
        var (address, _) = New("fifo");
        using var listener = ManagedIpc.Listen(address);
        using (LocalNames.Lock())
            Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ManagedIpc.Connect(address, 50)));
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void SomethingElseAtTheNameIsLeftAlone(string transport)
    {
        var (address, path) = New(transport);
        LocalNames.Lock().Dispose(); // makes the private folder
        File.WriteAllText(path, "precious");
        try
        {
            Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(address)));
            Assert.Contains(Pair.StatusOf(() => ManagedIpc.Connect(address)), new[] { IpcStatus.NoServer, IpcStatus.NoPermission });
            Assert.Equal("precious", File.ReadAllText(path));
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Theory]
    [MemberData(nameof(Named))]
    public void LinksAreNotFollowed(string transport)
    {
        var (real, realPath) = New(transport);
        var (address, path) = New(transport);
        using var listener = ManagedIpc.Listen(real);
        File.CreateSymbolicLink(path, realPath);
        try
        {
            Assert.Equal(IpcStatus.NoPermission, Pair.StatusOf(() => ManagedIpc.Connect(address)));
            Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(address)));
        }
        finally
        {
            File.Delete(path);
        }
        Assert.True(Libc.GetStatus(realPath, out _));
    }

    [Fact]
    public void LookingForANameMakesNoClient()
    {
        var (address, _) = New("unix");
        using var listener = ManagedIpc.Listen(address);
        Assert.Equal(IpcStatus.NameInUse, Pair.StatusOf(() => ManagedIpc.Listen(address)));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => listener.Accept(50)));
    }

    [Fact]
    public void AnAbsolutePathIsUsedAsItStands()
    {
        var path = $"/tmp/ipc-test-{Guid.NewGuid():N}";
        using (ManagedIpc.Listen($"unix://{path}"))
            Assert.True(Libc.GetStatus(path, out _));
        Assert.False(Libc.GetStatus(path, out _));
        Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.Listen($"unix:///tmp/{new string('a', 150)}")));
        Assert.Equal(IpcStatus.System, Pair.StatusOf(() => ManagedIpc.Listen($"unix:///no/such/folder/{Guid.NewGuid():N}")));
    }

    [Fact]
    public void AFifoClientThatGivesUpLeavesNothing()
    {
        var (address, path) = New("fifo");
        using var listener = ManagedIpc.Listen(address);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ManagedIpc.Connect(address, 50)));
        Assert.Single(Directory.GetFiles(s_private, Path.GetFileName(path) + "*"));
        // Its record is still there, and no reason for accept to fail.
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => listener.Accept(50)));
    }

    [Fact]
    public void GarbageInAFifoIsPassedOver()
    {
        var (address, path) = New("fifo");
        using var listener = ManagedIpc.Listen(address);
        File.AppendAllText(path, new string('x', 20) + "IPCF" + new string('y', 100));
        var connecting = Aside.Run(() => ManagedIpc.Connect(address, Pair.Patience));
        using var server = listener.Accept(Pair.Patience);
        using var client = connecting.Join();
        client.Send([1]);
        Assert.Equal(1, server.Receive(new byte[1], Pair.Patience));
    }

    [Fact]
    public void WhatAKilledFifoClientLeftGoesWithTheNextListener()
    {
        var (address, path) = New("fifo");
        var pair = $"{path}.{new string('a', 32)}";
        Assert.Equal(0, FifoNames.Make(pair + ".up"));
        Assert.Equal(0, FifoNames.Make(pair + ".down"));
        using var listener = ManagedIpc.Listen(address);
        Assert.Single(Directory.GetFiles(s_private, Path.GetFileName(path) + "*"));
    }

    // Its process closes the connection, and the name's reader only when it gets the processor again.
    [Fact]
    public void AFifoServerThatDiesSlowlyLosesItsNameWithTheChannel()
    {
        var (address, path) = New("fifo");
        var listener = ManagedIpc.Listen(address);
        var connecting = Aside.Run(() => ManagedIpc.Connect(address, Pair.Patience));
        var server = listener.Accept(Pair.Patience);
        var client = connecting.Join();
        server.Dispose();
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => client.Receive(new byte[1], Pair.Patience)));
        Assert.True(Libc.GetStatus(path, out _));
        listener.Dispose();
        LeaveDeadName("fifo", path);
        client.Dispose();
        Assert.False(Libc.GetStatus(path, out _));
    }

    [Fact]
    public void APeerThatIsNoSharedMemoryServerIsFoundOut()
    {
        var (address, path) = New("shm");
        LocalNames.Lock().Dispose();
        using var server = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        server.Bind(new UnixDomainSocketEndPoint(path));
        server.Listen();
        foreach (var answer in new[] { "hello, who is there?", "" })
        {
            var connecting = Aside.Run(() => Pair.StatusOf(() => ManagedIpc.Connect(address, Pair.Patience)));
            using (var connection = server.Accept())
                connection.Send(System.Text.Encoding.ASCII.GetBytes(answer));
            Assert.Equal(answer.Length > 0 ? IpcStatus.NotOurProtocol : IpcStatus.PeerClosed, connecting.Join());
        }
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => ManagedIpc.Connect(address, 30)));
    }
}
