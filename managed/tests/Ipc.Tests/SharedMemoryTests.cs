namespace Ipc.Tests;

/// <summary>Peers that die, dawdle or park, and memory with options.</summary>
public sealed class SharedMemoryTests
{
    /// <summary>What the system refuses is said in one error message; what it grants works like any other memory.</summary>
    [Theory]
    [InlineData("pages=huge")]
    [InlineData("prefault=yes")]
    public void HugePagesAndPrefaultingAreHadOrRefused(string option)
    {
        var address = $"shm://test-{Guid.NewGuid():N}?{option}";
        using var listener = ManagedIpc.Listen(address);
        var connecting = Aside.Run(() =>
        {
            try
            {
                using var client = ManagedIpc.Connect(address, Pair.Patience);
                client.Send(new byte[50_000], Pair.Patience);
                return IpcStatus.Ok;
            }
            catch (IpcException e)
            {
                return e.Status;
            }
        });
        try
        {
            using var server = listener.Accept(Pair.Patience);
            Assert.Equal(50_000, server.Receive(new byte[50_000], Pair.Patience));
            Assert.Equal(IpcStatus.Ok, connecting.Join());
        }
        catch (IpcException e) when (e.Status == IpcStatus.NotAvailable)
        {
            Assert.Contains(option, e.Message, StringComparison.Ordinal);
            Assert.NotEqual(IpcStatus.Ok, connecting.Join());
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void AKilledPeerIsNoticed(bool rings)
    {
        foreach (var timeout in new[] { Timeout.Infinite, Pair.Patience })
        {
            using var ends = new SharedMemoryEnds(rings);
            ends.Client.Send([1]);
            Assert.Equal(1, ends.Server.Receive(new byte[1], timeout));
            var receiving = Aside.Run(() => Pair.StatusOf(() => ends.Server.Receive(new byte[1], timeout)));
            receiving.UntilItWaits();
            var start = Environment.TickCount64;
            ends.KillClient();
            Assert.Equal(IpcStatus.PeerClosed, receiving.Join());
            Assert.InRange(Environment.TickCount64 - start, 0, 600);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void WhatAKilledPeerSentIsStillReceived(bool rings)
    {
        using var ends = new SharedMemoryEnds(rings);
        ends.Client.Send([1]);
        ends.KillClient();
        Thread.Sleep(100);
        Assert.Equal(1, ends.Server.Receive(new byte[1], Pair.Patience));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => ends.Server.Receive(new byte[1], Pair.Patience)));
    }

    [Fact]
    public void APeerKilledInTheMiddleOfAMessageIsTruncated()
    {
        using var ends = new SharedMemoryEnds(true);
        var sending = Aside.Run(() => Pair.StatusOf(() => ends.Client.Send(new byte[500_000])));
        Assert.Equal(500_000, PeekedLength(ends.Server));
        ends.KillClient();
        Assert.Equal(IpcStatus.PeerClosed, sending.Join());
        Assert.Equal(IpcStatus.Truncated, Pair.StatusOf(() => ends.Server.Receive(new byte[500_000], Pair.Patience)));
    }

    // The length of the next message as its first record tells it, without waiting for the rest.
    private static int PeekedLength(IpcChannel channel)
    {
        var failure = Assert.Throws<IpcException>(() => channel.Receive([], Pair.Patience));
        Assert.Equal(IpcStatus.BufferTooSmall, failure.Status);
        return int.Parse(failure.Message.Split(' ')[3], System.Globalization.CultureInfo.InvariantCulture);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void ATimeOutInTheMiddleKeepsWhatHasCome(bool inPlace)
    {
        using var ends = new SharedMemoryEnds(true);
        var message = Pair.Bytes(150_000);
        var sending = Aside.Run(() => ends.Client.Send(message, Pair.Patience));
        // The reader stops the writer by not reading: the ring holds no more than 64 kB of it.
        Assert.Equal(message.Length, PeekedLength(ends.Server));
        var received = new byte[message.Length];
        for (var done = false; !done;)
        {
            try
            {
                Array.Clear(received);
                if (inPlace)
                    ends.Server.Peek(0).CopyTo(received);
                else
                    ends.Server.Receive(received, 0);
                done = true;
            }
            catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
            {
                Thread.Sleep(1);
            }
        }
        Assert.True(message.AsSpan().SequenceEqual(received));
        sending.Join();
    }

    [Fact]
    public unsafe void NonsenseInABlockBreaksTheChannel()
    {
        foreach (var (kind, length, status) in new[] { (7u, 1u, IpcStatus.NotOurProtocol), (1u, 64 * 1024 + 1u, IpcStatus.PeerTooLarge),
            (1u, uint.MaxValue, IpcStatus.PeerTooLarge) })
        {
            using var ends = new SharedMemoryEnds(false);
            var block = ends.ClientSegment.Memory + 2048;
            *(uint*)(block + 4) = length;
            *(uint*)(block + 8) = kind;
            Volatile.Write(ref *(uint*)block, 1);
            Assert.Equal(status, Pair.StatusOf(() => ends.Server.Receive(new byte[10], Pair.Patience)));
        }
    }

    [Fact]
    public void AParkedSideIsWokenAtOnceAndIdleCostsNothing()
    {
        using var ends = new SharedMemoryEnds(true);
        var buffer = new byte[1];
        var receiving = Aside.Run(() =>
        {
            for (var i = 0; i < 20; i++)
                ends.Server.Receive(buffer, Pair.Patience);
            return Environment.TickCount64;
        });
        for (var i = 0; i < 20; i++)
        {
            unsafe
            {
                Pair.Until(() => Volatile.Read(ref *ends.ServerSegment.Incoming.ReaderParked) == 1);
            }
            ends.Client.Send([1]);
        }
        var sent = Environment.TickCount64;
        // Twenty wake-ups by the end of a slice instead of at once would take a second.
        var late = receiving.Join() - sent; // below 0 when this thread was held up after its last send
        Assert.True(late < 300, $"the last message came {late} ms after it was sent");
    }
}
