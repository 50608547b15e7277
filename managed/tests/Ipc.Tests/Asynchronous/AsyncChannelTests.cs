using System.Buffers;
using System.Text;

namespace Ipc.Tests;

/// <summary>Every asynchronous operation, over every transport: at once, after a wait, cancelled, and interrupted by the end of the channel.</summary>
public sealed class AsyncChannelTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    /// <summary>Those with something to wait for other than by a thread, where nothing is looked for now and then.</summary>
    public static TheoryData<string> WithoutThreads => [.. InPieces, "shm-event?wait=adaptive", "shm-event?wait=block"];

    /// <summary>Those of them that may have sent a part of a message.</summary>
    public static TheoryData<string> InPieces => ["unix", "tcp", "pipe", "fifo", "shm?wait=adaptive", "shm?wait=block"];

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task WaitsForMessagesOfAnySize(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[3_000_000];
        foreach (var length in new[] { 0, 1, 40, 2000, 70_000, 100_000, 3_000_000 })
        {
            var message = Pair.Bytes(length, length);
            var receiving = pair.Server.ReceiveAsync(buffer).AsTask();
            Assert.False(receiving.IsCompleted);
            await pair.Client.SendAsync(message).AsTask().WaitAsync(s_patience);
            Assert.Equal(length, await receiving.WaitAsync(s_patience));
            Assert.True(message.AsSpan().SequenceEqual(buffer.AsSpan(0, length)));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task CallsAreServedAsynchronously(string transport)
    {
        using var pair = new Pair(transport);
        var told = new List<string>();
        var serving = pair.Server.ServeAsync(async (request, reply, _) =>
        {
            await Task.Yield();
            if (request.Length == 3)
                throw new InvalidOperationException("three is too many");
            reply.Write(request.Span);
            reply.Write(request.Span);
        }, e => told.Add(e.Message));
        var buffer = new byte[400_000];
        foreach (var length in new[] { 0, 40, 5000, 200_000, 1 })
        {
            var request = Pair.Bytes(length);
            Assert.Equal(2 * length, await pair.Client.CallAsync(request, buffer).AsTask().WaitAsync(s_patience));
            Assert.True(request.AsSpan().SequenceEqual(buffer.AsSpan(length, length)));
        }
        var failure = await Assert.ThrowsAsync<IpcException>(() => pair.Client.CallAsync(new byte[3], buffer).AsTask().WaitAsync(s_patience));
        Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
        Assert.Contains("three is too many", failure.Message, StringComparison.Ordinal);
        Assert.Equal(2, await pair.Client.CallAsync(new byte[1], buffer).AsTask().WaitAsync(s_patience));
        Assert.Equal(["three is too many"], told);
        pair.Client.Close();
        await serving.WaitAsync(s_patience);
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ACancelledReceiveLosesNothing(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[100];
        for (var i = 0; i < 20; i++)
        {
            using var cancellation = new CancellationTokenSource();
            var receiving = pair.Server.ReceiveAsync(buffer, cancellation.Token).AsTask();
            if (i % 2 == 0)
                await Task.Delay(1);
            cancellation.Cancel();
            var cancelled = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => receiving.WaitAsync(s_patience));
            Assert.Equal(cancellation.Token, cancelled.CancellationToken);
            pair.Client.Send(Encoding.ASCII.GetBytes($"message {i}"), Pair.Patience);
            var length = await pair.Server.ReceiveAsync(buffer).AsTask().WaitAsync(s_patience);
            Assert.Equal($"message {i}", Encoding.ASCII.GetString(buffer, 0, length));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task TheLateReplyOfACancelledCallIsDropped(string transport)
    {
        using var pair = new Pair(transport);
        var reply = new byte[100];
        using var cancellation = new CancellationTokenSource();
        var calling = pair.Client.CallAsync(new byte[] { 1 }, reply, cancellation.Token).AsTask();
        Assert.Equal(1, pair.Server.ReceiveRequest(Pair.Patience)[0]);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => calling.WaitAsync(s_patience));
        pair.Server.Reply([1, 1, 1], Pair.Patience);

        var next = pair.Client.CallAsync(new byte[] { 2 }, reply).AsTask();
        Assert.Equal(2, pair.Server.ReceiveRequest(Pair.Patience)[0]);
        pair.Server.Reply([2, 2], Pair.Patience);
        Assert.Equal(2, await next.WaitAsync(s_patience));
        Assert.Equal(2, reply[0]);
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ClosingInterruptsWhatWaits(string transport)
    {
        using var pair = new Pair(transport);
        var receiving = pair.Server.ReceiveAsync(new byte[10]).AsTask();
        var calling = pair.Client.CallAsync(new byte[10], new byte[10]).AsTask();
        await Task.Delay(20);
        pair.Client.Dispose();
        Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => calling.WaitAsync(s_patience))).Status);
        // The request has come before the end, where a plain message was expected; or the peer's end if it found no room.
        Assert.Equal(IpcStatus.NotOurProtocol, (await Assert.ThrowsAsync<IpcException>(() => receiving.WaitAsync(s_patience))).Status);
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ThePeersEndIsNoticed(string transport)
    {
        using var pair = new Pair(transport);
        var receiving = pair.Server.ReceiveAsync(new byte[10]).AsTask();
        pair.Client.Dispose();
        Assert.Equal(IpcStatus.PeerClosed, (await Assert.ThrowsAsync<IpcException>(() => receiving.WaitAsync(s_patience))).Status);
        var sending = pair.Server.SendAsync(new byte[10]).AsTask();
        Assert.Equal(IpcStatus.PeerClosed, (await Assert.ThrowsAsync<IpcException>(() => sending.WaitAsync(s_patience))).Status);
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task AStreamOfMessagesEndsWithThePeer(string transport)
    {
        using var pair = new Pair(transport);
        var sending = Task.Run(async () =>
        {
            for (var i = 0; i < 300; i++)
                await pair.Client.SendAsync(Pair.Bytes(i * 50, i));
            pair.Client.Close();
        });
        var count = 0;
        await foreach (var message in pair.Server.ReceiveAllAsync())
        {
            Assert.True(Pair.Bytes(count * 50, count).AsSpan().SequenceEqual(message.Span));
            count++;
        }
        Assert.Equal(300, count);
        await sending;
    }

    [Theory]
    [MemberData(nameof(WithoutThreads))]
    public async Task ASenderThatFindsNoRoomWaitsForIt(string transport)
    {
        using var pair = new Pair(transport);
        var message = Pair.Bytes(400_000);
        var sending = Task.Run(async () =>
        {
            for (var i = 0; i < 50; i++)
                await pair.Client.SendAsync(message);
        });
        await Task.Delay(50);
        Assert.False(sending.IsCompleted);
        var buffer = new byte[message.Length];
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(message.Length, pair.Server.Receive(buffer, Pair.Patience));
            Assert.True(message.AsSpan().SequenceEqual(buffer));
            buffer.AsSpan().Clear();
        }
        await sending.WaitAsync(s_patience);
    }

    [Theory]
    [MemberData(nameof(InPieces))]
    public async Task ASendCancelledHalfWayBreaksTheChannel(string transport)
    {
        using var pair = new Pair(transport, transport.StartsWith("shm?", StringComparison.Ordinal) ? "size=64k" : "");
        using var cancellation = new CancellationTokenSource();
        var sending = pair.Client.SendAsync(new byte[8_000_000], cancellation.Token).AsTask();
        Assert.False(sending.IsCompleted);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => sending.WaitAsync(s_patience));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Send([1])));
        Assert.Equal(IpcStatus.Truncated, Pair.StatusOf(() => pair.Server.Receive(new byte[8_000_000], Pair.Patience)));
    }

    [Theory]
    [MemberData(nameof(WithoutThreads))]
    public async Task ASendCancelledBeforeItBeganLeavesTheChannelGood(string transport)
    {
        using var pair = new Pair(transport);
        var message = new byte[1000];
        var sent = 0;
        while (true)
        {
            using var cancellation = new CancellationTokenSource();
            var sending = pair.Client.SendAsync(message, cancellation.Token);
            if (!sending.IsCompleted && transport != "tcp")
            {
                cancellation.Cancel();
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => sending.AsTask().WaitAsync(s_patience));
                break;
            }
            if (!sending.IsCompleted)
                return; // tcp took a part of it
            await sending;
            sent++;
        }
        for (var i = 0; i < sent; i++)
            Assert.Equal(message.Length, pair.Server.Receive(message, Pair.Patience));
        await pair.Client.SendAsync(message.AsMemory(0, 7)).AsTask().WaitAsync(s_patience);
        Assert.Equal(7, pair.Server.Receive(message, Pair.Patience));
    }

    [Fact]
    public async Task ATokenThatIsCancelledAlreadyDoesNothing()
    {
        using var pair = new Pair("unix");
        var cancelled = new CancellationToken(true);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pair.Client.SendAsync(new byte[1], cancelled).AsTask());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pair.Client.CallAsync(new byte[1], new byte[1], cancelled).AsTask());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pair.Listener.AcceptAsync(cancelled).AsTask());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => ManagedIpc.ConnectAsync(pair.Address, cancelled).AsTask());
        Assert.False(pair.Server.TryReceive(new byte[1], out _));
    }

    [Fact]
    public async Task ASecondReceiveAtOnceIsRefused()
    {
        using var pair = new Pair("unix");
        var first = pair.Server.ReceiveAsync(new byte[10]).AsTask();
        var second = await Assert.ThrowsAsync<IpcException>(() => pair.Server.ReceiveAsync(new byte[10]).AsTask());
        Assert.Equal(IpcStatus.WrongState, second.Status);
        pair.Client.Send([5]);
        Assert.Equal(1, await first.WaitAsync(s_patience));
    }

    [Fact]
    public async Task ATaskAwaitedTwiceDoesNotTouchTheNextOperation()
    {
        using var pair = new Pair("unix");
        var buffer = new byte[10];
        var first = pair.Server.ReceiveAsync(buffer);
        pair.Client.Send([5]);
        await first;
        var second = pair.Server.ReceiveAsync(buffer).AsTask();
        Assert.Throws<InvalidOperationException>(() => first.GetAwaiter().GetResult());
        pair.Client.Send([5, 6]);
        Assert.Equal(2, await second.WaitAsync(s_patience));
    }

    [Theory]
    [MemberData(nameof(WithoutThreads))]
    public async Task ManyChannelsWaitWithoutThreads(string transport)
    {
        const int Channels = 200;
        var pairs = new List<Pair>();
        try
        {
            // Let the pool and the waiting threads come about first.
            pairs.Add(new Pair(transport, "max=4k"));
            var waiting = new List<Task<int>> { pairs[0].Server.ReceiveAsync(new byte[10]).AsTask() };
            for (var i = 1; i < Channels; i++)
            {
                pairs.Add(new Pair(transport, transport.StartsWith("shm?", StringComparison.Ordinal) ? "size=64k" : "max=4k"));
                waiting.Add(pairs[i].Server.ReceiveAsync(new byte[10]).AsTask());
            }
            Assert.All(waiting, task => Assert.False(task.IsCompleted));
            // Those of shared memory serve 127 words each; other tests of this process have some, too. A thread gets its name when it first runs.
            var least = transport.StartsWith("shm", StringComparison.Ordinal) ? 2 : 0;
            Pair.Until(() => Threads("ipc readiness") > 0 && Threads("ipc shared memory") >= least);
            Assert.Equal(1, Threads("ipc readiness"));
            Assert.InRange(Threads("ipc shared memory"), least, 20);
            for (var i = 0; i < Channels; i++)
                pairs[i].Client.Send(new byte[i % 10]);
            for (var i = 0; i < Channels; i++)
                Assert.Equal(i % 10, await waiting[i].WaitAsync(s_patience));
        }
        finally
        {
            pairs.ForEach(pair => pair.Dispose());
        }

        static int Threads(string name) =>
            Directory.GetDirectories("/proc/self/task").Count(task => NameOf(task) == name[..Math.Min(name.Length, 15)]);

        static string NameOf(string task)
        {
            try
            {
                return File.ReadAllText(Path.Combine(task, "comm")).TrimEnd();
            }
            catch (IOException)
            {
                return ""; // a thread that has ended meanwhile
            }
        }
    }
}
