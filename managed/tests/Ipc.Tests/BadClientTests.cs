using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc.Tests;

/// <summary>Hundreds of bad clients against a server: the good ones among them are served as if they were alone, and nothing of the bad ones
/// stays. The same by the thousand, and for servers in other processes: native/tests/server/flood_posix.cpp.</summary>
[SupportedOSPlatform("linux")]
public sealed class BadClientTests
{
    public enum Badness
    {
        Leaves,
        Lies,
        SaysNothing,
    }

    private const int Bad = 300;

    public static TheoryData<string, Badness> Floods
    {
        get
        {
            var all = new TheoryData<string, Badness>();
            foreach (var transport in new[] { "unix", "pipe", "tcp", "fifo", "shm", "shm-event" })
            {
                foreach (var badness in Enum.GetValues<Badness>())
                    all.Add(transport, badness);
            }
            return all;
        }
    }

    [Theory, MemberData(nameof(Floods))]
    public void GoodOnesDoNotNoticeAFlood(string transport, Badness badness)
    {
        using var server = new IpcServer(Pair.NewAddress(transport), (request, reply) => request.CopyTo(reply.Reserve(request.Length)),
            new IpcServerOptions { MaxClients = 32 });
        var held = new List<IDisposable>();
        try
        {
            var flood = Aside.Run(() =>
            {
                for (var i = 0; i < Bad; i++)
                    Come(IpcAddress.Parse(server.Address), badness, held);
            });
            for (var i = 0; i < 10 || !flood.IsCompleted; i++)
                CallAsAGoodClient(server);
            flood.Join();
            CallAsAGoodClient(server);
        }
        finally
        {
            held.ForEach(one => one.Dispose());
        }
        CallAsAGoodClient(server);
        Pair.Until(() => server.Clients == 0);
    }

    [Theory, InlineData("unix"), InlineData("shm"), InlineData("tcp"), InlineData("fifo")]
    public void AcceptGivesNobodyWhoLeft(string transport)
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        var held = new List<IDisposable>();
        for (var i = 0; i < 20; i++)
            Come(IpcAddress.Parse(listener.Address), Badness.Leaves, held);
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => listener.Accept(100)));
        var connecting = Aside.Run(() => ManagedIpc.Connect(listener.Address, Pair.Patience));
        using var good = listener.Accept(Pair.Patience);
        using var client = connecting.Join();
        client.Send([1, 2, 3]);
        Assert.Equal(3, good.Receive(new byte[3], Pair.Patience));
    }

    // A client that has opened its FIFO answers as soon as the system lets it, and takes itself for connected: were it let go for the silent
    // ones, its first call would fail. (native/tests/server/fifo_handshakes_posix.cpp)
    [Fact]
    public void AnAnswerOverFifoThatIsOnItsWayIsWaitedFor()
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress("fifo"));
        var path = LocalNames.InPrivateFolder(IpcAddress.Parse(listener.Address), "fifo-").Path;
        var silent = new List<IDisposable>();
        using var handshakeFifo = FifoNames.Open(path, Libc.O_WRONLY, out _);
        var (pair, down) = FifoPair.Make(path, new Deadline(Pair.Patience));
        using (pair)
        using (down)
        {
            Write(handshakeFifo!, FifoRecord.Make(pair.Token));
            var accepting = Aside.Run(() => listener.Accept(Pair.Patience));
            Pair.Until(() => FifoTransport.ReadGreeting(down) is true);
            using var up = FifoNames.Open(pair.Up, Libc.O_WRONLY, out _);
            // More than may be at it at a time.
            for (var i = 0; i < Bad; i++)
                ComeByFifo(path, Badness.SaysNothing, silent);
            Pair.Until(() => !File.Exists(pair.Up));
            Assert.True(FifoTransport.WriteGreeting(up!), "the listener let this client go");
            accepting.Join().Dispose();
        }
        silent.ForEach(one => one.Dispose());
    }

    private static void CallAsAGoodClient(IpcServer server)
    {
        using var client = ManagedIpc.Connect(server.Address, Pair.Patience);
        Assert.Equal(4, client.Call("good"u8, new byte[4], Pair.Patience));
    }

    private static void Come(IpcAddress address, Badness badness, List<IDisposable> held)
    {
        var transport = address.Transport;
        if (transport == "fifo")
        {
            ComeByFifo(LocalNames.InPrivateFolder(address, "fifo-").Path, badness, held);
            return;
        }
        var prefix = transport == "shm-event" ? "event-" : transport + "-";
        EndPoint where = transport switch
        {
            "tcp" => new IPEndPoint(IPAddress.Loopback, TcpPlace.Parse(address).Port),
            "pipe" => new UnixDomainSocketEndPoint(Path.Combine(Path.GetTempPath(), "CoreFxPipe_" + address.Name)),
            _ => new UnixDomainSocketEndPoint(LocalNames.InPrivateFolder(address, prefix).Path),
        };
        var socket = new Socket(where.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        socket.Connect(where);
        if (badness == Badness.Lies)
            socket.Send([.. Enumerable.Repeat((byte)0xEE, 64)]);
        if (badness == Badness.Leaves)
            socket.Dispose();
        else
            held.Add(socket);
    }

    private static void ComeByFifo(string path, Badness badness, List<IDisposable> held)
    {
        // Waits for room in the FIFO, as a client does.
        using var handshakeFifo = Libc.Open(path, Libc.O_WRONLY)!;
        var record = new byte[FifoRecord.Length];
        FifoPair? pair = null;
        if (badness != Badness.Lies)
        {
            (pair, var down) = FifoPair.Make(path, new Deadline(Timeout.Infinite));
            record = FifoRecord.Make(pair.Token);
            if (badness == Badness.Leaves)
                down.Dispose();
            else
                held.AddRange([down, pair]); // the server takes the names away, unless it ends first
        }
        Write(handshakeFifo, record);
        if (badness == Badness.Leaves)
            pair!.Dispose();
    }

    private static unsafe void Write(Descriptor fifo, byte[] record)
    {
        fixed (byte* p = record)
        {
            var vector = new Libc.IoVector { Base = p, Length = (nuint)record.Length };
            Assert.Equal(record.Length, Libc.Write(fifo, &vector, 1));
        }
    }
}
