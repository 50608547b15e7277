using System.Net.Sockets;

namespace Ipc.Tests;

/// <summary>What a stream of bytes may hold: frames, parts of frames, and things that are none.</summary>
public sealed class StreamFramingTests
{
    [Fact]
    public void FramesAreTheDocumentedBytes()
    {
        using var peer = new RawPeer();
        peer.Channel.Send([0xAA, 0xBB]);
        Assert.Equal(Convert.FromHexString("49504331" + "02000000" + "01000000" + "00000000" + "AABB"), Receive(peer.Socket, 18));
        var calling = Aside.Run(() => peer.Channel.Call([0x01], new byte[1], Pair.Patience));
        Assert.Equal(Convert.FromHexString("49504331" + "01000000" + "02000000" + "01000000" + "01"), Receive(peer.Socket, 17));
        peer.Socket.Send(RawPeer.Frame(3, 1, [5]));
        Assert.Equal(1, calling.Join());
        var failing = Aside.Run(() => Pair.StatusOf(() => peer.Channel.Call([], [], Pair.Patience)));
        Assert.Equal(2, Receive(peer.Socket, 16)[12]);
        peer.Socket.Send(RawPeer.Frame(4, 2, "no"u8));
        Assert.Equal(IpcStatus.HandlerFailed, failing.Join());
    }

    private static byte[] Receive(Socket socket, int length)
    {
        var bytes = new byte[length];
        for (var have = 0; have < length;)
            have += socket.Receive(bytes.AsSpan(have));
        return bytes;
    }

    [Fact]
    public void SeveralFramesInOneFragmentAndOneFrameInSeveralFragments()
    {
        using var peer = new RawPeer();
        byte[] both = [.. RawPeer.Frame(1, 0, [1]), .. RawPeer.Frame(1, 0, [2, 3])];
        peer.Socket.Send(both);
        var buffer = new byte[100_000];
        Assert.Equal(1, peer.Channel.Receive(buffer, Pair.Patience));
        Assert.Equal(2, peer.Channel.Receive(buffer, Pair.Patience));
        foreach (var part in both)
        {
            peer.Socket.Send([part]);
            Assert.Contains(Try(peer.Channel, buffer), new[] { IpcStatus.TimedOut, IpcStatus.Ok });
        }
        peer.Socket.Send(RawPeer.Frame(1, 0, [9]));
        Assert.Equal(IpcStatus.Ok, Try(peer.Channel, buffer));
    }

    private static IpcStatus Try(IpcChannel channel, byte[] buffer)
    {
        try
        {
            channel.Receive(buffer, 0);
            return IpcStatus.Ok;
        }
        catch (IpcException e)
        {
            return e.Status;
        }
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(65_536)]
    [InlineData(300_000)]
    public void ATimeOutInTheMiddleKeepsWhatHasCome(int length)
    {
        using var peer = new RawPeer();
        var payload = Pair.Bytes(length);
        var frame = RawPeer.Frame(1, 0, payload);
        foreach (var inPlace in new[] { false, true })
        {
            var buffer = new byte[length];
            foreach (var (from, to) in new[] { (0, 10), (10, 16), (16, 700), (700, length - 10), (length - 10, frame.Length - 1) })
            {
                // Aside, because the socket holds less than the longest fragment: it goes only as the attempts take it.
                var sending = Task.Run(() => peer.Socket.Send(frame.AsSpan(from, to - from)));
                bool sent;
                do
                {
                    sent = sending.IsCompleted;
                    buffer = new byte[length]; // the next attempt may bring another buffer
                    Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => Get(peer.Channel, inPlace, buffer, 20)));
                }
                while (!sent);
            }
            peer.Socket.Send(frame.AsSpan(frame.Length - 1));
            Get(peer.Channel, inPlace, buffer, Pair.Patience);
            Assert.True(payload.AsSpan().SequenceEqual(buffer));
        }
    }

    private static void Get(IpcChannel channel, bool inPlace, byte[] buffer, int timeout)
    {
        if (!inPlace)
        {
            channel.Receive(buffer, timeout);
            return;
        }
        channel.Peek(timeout).CopyTo(buffer);
        channel.Release();
    }

    [Fact]
    public void ALateReplyThatIsCutByTimeOutsIsDroppedAllTheSame()
    {
        using var peer = new RawPeer();
        var reply = new byte[200_000];
        var late = RawPeer.Frame(3, 1, Pair.Bytes(150_000));
        peer.Socket.Send(late.AsSpan(0, 100_000));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => peer.Channel.Call([1], reply, 30)));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => peer.Channel.Call([2], reply, 30)));
        peer.Socket.Send(late.AsSpan(100_000));
        peer.Socket.Send(RawPeer.Frame(3, 2, [7]));
        peer.Socket.Send(RawPeer.Frame(3, 3, [8, 8]));
        Assert.Equal(2, peer.Channel.Call([3], reply, Pair.Patience));
        Assert.Equal(8, reply[0]);
    }

    public static TheoryData<string, IpcStatus> Damage => new()
    {
        { "GET / HTTP/1.1\r\n\r\n", IpcStatus.NotOurProtocol },
        { "hello", IpcStatus.NotOurProtocol },
        { "magic", IpcStatus.NotOurProtocol },
        { "kind 0", IpcStatus.NotOurProtocol },
        { "kind 5", IpcStatus.NotOurProtocol },
        { "kind reply", IpcStatus.NotOurProtocol },
        { "too long", IpcStatus.PeerTooLarge },
        { "longest", IpcStatus.PeerTooLarge },
        { "half a header", IpcStatus.Truncated },
        { "half a payload", IpcStatus.Truncated },
        { "nothing", IpcStatus.PeerClosed },
    };

    [Theory]
    [MemberData(nameof(Damage))]
    public void DamageBreaksTheChannelForGood(string damage, IpcStatus status)
    {
        using var peer = new RawPeer("?max=1k");
        byte[] bytes = damage switch
        {
            "magic" => RawPeer.Frame(1, 0, [1], magic: 0x31435048),
            "kind 0" => RawPeer.Frame(0, 0, [1]),
            "kind 5" => RawPeer.Frame(5, 0, [1]),
            "kind reply" => RawPeer.Frame(3, 0, [1]),
            "too long" => RawPeer.Frame(1, 0, [], length: 1025),
            "longest" => RawPeer.Frame(1, 0, [], length: uint.MaxValue),
            "half a header" => RawPeer.Frame(1, 0, [])[..10],
            "half a payload" => RawPeer.Frame(1, 0, [1, 2, 3])[..18],
            "nothing" => [],
            _ => System.Text.Encoding.ASCII.GetBytes(damage),
        };
        peer.Socket.Send(bytes);
        if (status is IpcStatus.Truncated or IpcStatus.PeerClosed)
            peer.Socket.Shutdown(SocketShutdown.Send);
        for (var i = 0; i < 2; i++)
            Assert.Equal(status, Pair.StatusOf(() => peer.Channel.Receive(new byte[1024], Pair.Patience)));
        Assert.Equal(status, Pair.StatusOf(() => peer.Channel.Send([])));
        Assert.Equal(status, Pair.StatusOf(() => peer.Channel.Peek()));
    }

    [Fact]
    public void AClaimedLengthTakesNoMemoryBeforeItsBytesCome()
    {
        using var peer = new RawPeer("?max=2G");
        peer.Socket.Send(RawPeer.Frame(1, 0, [1, 2, 3], length: 2_000_000_000));
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => peer.Channel.Peek(30)));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 500_000);
    }

    [Fact]
    public void AnAnswerToACallNeverMadeIsRefused()
    {
        using var peer = new RawPeer();
        peer.Socket.Send(RawPeer.Frame(3, 2, []));
        Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => peer.Channel.Call([], [], Pair.Patience)));
    }

    [Fact]
    public void AFaultOfAnyLengthAndBytesBecomesAnErrorMessage()
    {
        using var peer = new RawPeer();
        var text = new byte[100_000];
        Array.Fill(text, (byte)0xFF);
        peer.Socket.Send(RawPeer.Frame(4, 1, text.AsSpan(0, 50_000)));
        peer.Socket.Send(RawPeer.Frame(3, 2, [1]));
        var failure = Assert.Throws<IpcException>(() => peer.Channel.Call([], [], Pair.Patience));
        Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
        Assert.InRange(failure.Message.Length, 100, 2000);
        Assert.Equal(1, peer.Channel.Call([], new byte[1], Pair.Patience));
    }
}
