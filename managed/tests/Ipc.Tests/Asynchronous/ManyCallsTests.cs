using System.Buffers;
using System.Buffers.Binary;

namespace Ipc.Tests;

/// <summary>Many asynchronous calls under way at once on one channel, and servers that answer several at a time.</summary>
public sealed class ManyCallsTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    // As many as there may be in flight, and some more that wait for their turn; short replies, and long ones that go right to their buffers.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task HundredsOfCallsGetTheirOwnReplies(string transport)
    {
        using var pair = new Pair(transport);
        var serving = pair.Server.ServeAsync(Echo, atOnce: 8);
        await AllAtOnce(400, async i =>
        {
            var request = Pair.Bytes(i % 7 == 0 ? 20_000 + i : 10 + i, i);
            var reply = new byte[request.Length];
            Assert.Equal(request.Length, await pair.Client.CallAsync(request, reply));
            Assert.True(request.AsSpan().SequenceEqual(reply), $"the reply to call {i} is another one's");
        }).WaitAsync(s_patience);
        pair.Client.Close();
        await serving.WaitAsync(s_patience);
    }

    // The first call is answered last.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task RepliesComeInAnyOrder(string transport)
    {
        const int Count = 50;
        using var pair = new Pair(transport);
        var buffers = Enumerable.Range(0, Count).Select(_ => new byte[100]).ToList();
        var calls = buffers.Select((buffer, i) => pair.Client.CallAsync(new byte[] { (byte)i }, buffer).AsTask()).ToList();
        var tokens = new Dictionary<byte, ulong>();
        for (var i = 0; i < Count; i++)
        {
            var number = pair.Server.ReceiveRequest(Pair.Patience)[0];
            tokens[number] = pair.Server.DeferRequest();
        }
        for (var i = Count - 1; i >= 0; i--)
        {
            Assert.False(calls[i].IsCompleted);
            if (i % 10 == 3)
                pair.Server.FailDeferred(tokens[(byte)i], $"not {i}", Pair.Patience);
            else
                pair.Server.ReplyDeferred(tokens[(byte)i], Pair.Bytes(i, i), Pair.Patience);
            if (i % 10 == 3)
            {
                var failure = await Assert.ThrowsAsync<IpcException>(() => calls[i].WaitAsync(s_patience));
                Assert.Equal((IpcStatus.HandlerFailed, true), (failure.Status, failure.Message.EndsWith($"not {i}", StringComparison.Ordinal)));
                continue;
            }
            Assert.Equal(i, await calls[i].WaitAsync(s_patience));
            Assert.True(Pair.Bytes(i, i).AsSpan().SequenceEqual(buffers[i].AsSpan(0, i)));
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ACancelledCallLeavesTheOthersAndTheChannelGood(string transport)
    {
        using var pair = new Pair(transport);
        using var cancellation = new CancellationTokenSource();
        var kept = pair.Client.CallAsync(new byte[] { 1 }, new byte[10]).AsTask();
        var given = pair.Client.CallAsync(new byte[] { 2 }, new byte[10], cancellation.Token).AsTask();
        var tokens = new ulong[2];
        for (var i = 0; i < 2; i++)
        {
            Assert.Equal(i + 1, pair.Server.ReceiveRequest(Pair.Patience)[0]);
            tokens[i] = pair.Server.DeferRequest();
        }
        cancellation.Cancel();
        var cancelled = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => given.WaitAsync(s_patience));
        Assert.Equal(cancellation.Token, cancelled.CancellationToken);
        pair.Server.ReplyDeferred(tokens[1], [2, 2], Pair.Patience);
        pair.Server.ReplyDeferred(tokens[0], [1], Pair.Patience);
        Assert.Equal(1, await kept.WaitAsync(s_patience));

        // With none under way a blocking call may be made at once, also after one was cancelled and while its late reply is still to come.
        using var again = new CancellationTokenSource();
        var late = pair.Client.CallAsync(new byte[] { 3 }, new byte[10], again.Token).AsTask();
        Assert.Equal(3, pair.Server.ReceiveRequest(Pair.Patience)[0]);
        again.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => late.WaitAsync(s_patience));
        var serving = Aside.Run(() =>
        {
            pair.Server.Reply([3, 3, 3], Pair.Patience);
            var number = pair.Server.ReceiveRequest(Pair.Patience)[0];
            pair.Server.Reply([number, number], Pair.Patience);
            return number;
        });
        var reply = new byte[10];
        Assert.Equal(2, pair.Client.Call([4], reply, Pair.Patience));
        Assert.Equal((4, 4), (reply[0], serving.Join()));
    }

    // A request of which half is out goes on without its caller, whose bytes are its own again.
    [Theory]
    [InlineData("unix")]
    [InlineData("pipe")]
    [InlineData("tcp")]
    [InlineData("shm?wait=adaptive")]
    [InlineData("shm?wait=block")]
    public async Task ACallCancelledWhileItIsSentBreaksNothing(string transport)
    {
        using var pair = new Pair(transport, transport.StartsWith("shm", StringComparison.Ordinal) ? "size=64k" : "");
        using var cancellation = new CancellationTokenSource();
        var request = Pair.Bytes(8_000_000);
        var copy = request.ToArray();
        var calling = pair.Client.CallAsync(request, new byte[10], cancellation.Token).AsTask();
        var queued = pair.Client.CallAsync(new byte[] { 9 }, new byte[10], cancellation.Token).AsTask();
        var next = pair.Client.CallAsync(new byte[] { 7 }, new byte[10]).AsTask();
        await Task.Delay(20);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => calling.WaitAsync(s_patience));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => queued.WaitAsync(s_patience));
        request.AsSpan().Clear();

        Assert.True(pair.Server.ReceiveRequest(Pair.Patience).SequenceEqual(copy));
        pair.Server.Reply([1], Pair.Patience);
        Assert.Equal(7, pair.Server.ReceiveRequest(Pair.Patience)[0]);
        pair.Server.Reply([1, 2], Pair.Patience);
        Assert.Equal(2, await next.WaitAsync(s_patience));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task TheEndOfTheChannelEndsEveryCall(string transport)
    {
        foreach (var closesHere in new[] { true, false })
        {
            using var pair = new Pair(transport);
            var calls = Enumerable.Range(0, 30).Select(_ => pair.Client.CallAsync(new byte[10], new byte[10]).AsTask()).ToList();
            pair.Server.ReceiveRequest(Pair.Patience);
            if (closesHere)
                pair.Client.Dispose();
            else
                pair.Server.Dispose();
            foreach (var call in calls)
            {
                var failure = await Assert.ThrowsAsync<IpcException>(() => call.WaitAsync(s_patience));
                Assert.Equal(closesHere ? IpcStatus.Closed : IpcStatus.PeerClosed, failure.Status);
            }
            var status = (await Assert.ThrowsAsync<IpcException>(() =>
                pair.Client.CallAsync(new byte[10], new byte[10]).AsTask().WaitAsync(s_patience))).Status;
            Assert.Equal(closesHere ? IpcStatus.Closed : IpcStatus.PeerClosed, status);
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task AReplyTooLongIsKeptForACallThatWasAloneAndDroppedElse(string transport)
    {
        using var pair = new Pair(transport);
        var serving = pair.Server.ServeAsync((request, reply, _) =>
        {
            reply.Write(Pair.Bytes(BinaryPrimitives.ReadInt32LittleEndian(request.Span), 5));
            return default;
        });
        foreach (var length in new[] { 50, 9000 })
        {
            var alone = await Assert.ThrowsAsync<IpcException>(() =>
                pair.Client.CallAsync(BitConverter.GetBytes(length), new byte[10]).AsTask().WaitAsync(s_patience));
            Assert.Equal(IpcStatus.BufferTooSmall, alone.Status);
            var kept = new byte[length];
            Assert.Equal(length, pair.Client.ReceiveReply(kept, Pair.Patience));
            Assert.True(Pair.Bytes(length, 5).AsSpan().SequenceEqual(kept));
        }

        var calls = Enumerable.Range(0, 20).Select(i => (Length: 100 + i, Call: pair.Client.CallAsync(BitConverter.GetBytes(100 + i), new byte[110]).AsTask()))
            .ToList();
        foreach (var (length, call) in calls.Where(c => c.Length <= 110))
            Assert.Equal(length, await call.WaitAsync(s_patience));
        foreach (var (_, call) in calls.Where(c => c.Length > 110))
            Assert.Equal(IpcStatus.BufferTooSmall, (await Assert.ThrowsAsync<IpcException>(() => call.WaitAsync(s_patience))).Status);
        pair.Client.Close();
        await serving.WaitAsync(s_patience);
    }

    // Both ways are full at once, with more than either holds: who sends must not keep the replies from being taken.
    [Theory]
    [InlineData("unix")]
    [InlineData("tcp")]
    [InlineData("shm?wait=adaptive")]
    [InlineData("shm?wait=block")]
    public async Task FullWaysInBothDirectionsGoOn(string transport)
    {
        using var pair = new Pair(transport, transport.StartsWith("shm", StringComparison.Ordinal) ? "size=64k" : "");
        var serving = Aside.Run(() => pair.Server.Serve((request, reply) => request.CopyTo(reply.Reserve(request.Length))));
        await AllAtOnce(120, async i =>
        {
            var request = Pair.Bytes(50_000, i);
            var reply = new byte[request.Length];
            Assert.Equal(request.Length, await pair.Client.CallAsync(request, reply));
            Assert.True(request.AsSpan().SequenceEqual(reply));
        }).WaitAsync(s_patience * 3);
        pair.Client.Close();
        serving.Join();
    }

    [Fact]
    public async Task NothingElseMayBeUnderWayBesides()
    {
        using var pair = new Pair("unix");
        var receiving = pair.Client.ReceiveAsync(new byte[10]).AsTask();
        Assert.Equal(IpcStatus.WrongState, (await Assert.ThrowsAsync<IpcException>(() => pair.Client.CallAsync(new byte[1], new byte[1]).AsTask())).Status);
        pair.Server.Send([5], Pair.Patience);
        Assert.Equal(1, await receiving.WaitAsync(s_patience));
        var calling = pair.Client.CallAsync(new byte[1], new byte[1]).AsTask();
        Assert.Equal(IpcStatus.WrongState, (await Assert.ThrowsAsync<IpcException>(() => pair.Client.ReceiveAsync(new byte[1]).AsTask())).Status);
        pair.Server.ReceiveRequest(Pair.Patience);
        pair.Server.Reply([], Pair.Patience);
        Assert.Equal(0, await calling.WaitAsync(s_patience));
    }

    [Fact]
    public async Task ACallAwaitedTwiceDoesNotTouchTheNext()
    {
        using var pair = new Pair("unix");
        var serving = pair.Server.ServeAsync(Echo);
        var first = pair.Client.CallAsync(new byte[3], new byte[3]);
        await first;
        var second = pair.Client.CallAsync(new byte[4], new byte[4]).AsTask();
        Assert.Throws<InvalidOperationException>(() => first.GetAwaiter().GetResult());
        Assert.Equal(4, await second.WaitAsync(s_patience));
        pair.Client.Close();
        await serving.WaitAsync(s_patience);
    }

    // A handler that waits for another one, of a request that came later: only who answers several at a time gets there.
    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task AServerAnswersSeveralAtATimeAndNoMore(string transport)
    {
        const int AtOnce = 4;
        using var pair = new Pair(transport);
        var (running, most) = (0, 0);
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var told = new List<string>();
        var serving = pair.Server.ServeAsync(async (request, reply, _) =>
        {
            var now = Interlocked.Increment(ref running);
            lock (told)
                most = Math.Max(most, now);
            if (now == AtOnce)
                all.TrySetResult();
            await all.Task.WaitAsync(s_patience, CancellationToken.None);
            var fails = request.Span[0] == 7;
            Interlocked.Decrement(ref running);
            if (fails)
                throw new InvalidOperationException("seven");
            reply.Write(request.Span);
        }, AtOnce, e =>
        {
            lock (told)
                told.Add(e.Message);
        });
        var calls = Enumerable.Range(0, 40).Select(i => pair.Client.CallAsync(new[] { (byte)i, (byte)1 }, new byte[2]).AsTask()).ToList();
        for (var i = 0; i < calls.Count; i++)
        {
            if (i != 7)
                Assert.Equal(2, await calls[i].WaitAsync(s_patience));
        }
        Assert.Equal(IpcStatus.HandlerFailed, (await Assert.ThrowsAsync<IpcException>(() => calls[7].WaitAsync(s_patience))).Status);
        pair.Client.Close();
        await serving.WaitAsync(s_patience);
        Assert.Equal((AtOnce, 0), (most, running));
        Assert.Equal(["seven"], told);
    }

    // Once warmed up, neither a call whose reply comes soon nor one that waits for it makes an object.
    [Fact]
    public void CallsAllocateNothing()
    {
        const int Calls = 1000;
        using var pair = new Pair("shm?wait=spin");
        var serving = Aside.Run(() => pair.Server.Serve((request, reply) => request.CopyTo(reply.Reserve(request.Length))));
        var (request, reply) = (new byte[40], new byte[40]);
        long before = 0;
        var wrong = 0;
        for (var i = 0; i < Calls + 200; i++)
        {
            if (i == 200)
                before = GC.GetAllocatedBytesForCurrentThread();
            var call = pair.Client.CallAsync(request, reply);
            wrong += LengthOf(call) == 40 ? 0 : 1;
        }
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.Equal(0, wrong);
        // The smallest object has 24 bytes; what is made once is not counted.
        Assert.InRange(allocated, 0, Calls);
        pair.Client.Close();
        serving.Join();
    }

    // Away from the test framework's synchronization context, which starts a thread for every continuation and waits until it runs: hundreds of them,
    // one after another, take longer on a busy machine than a test waits.
    private static Task AllAtOnce(int count, Func<int, Task> call) => Task.Run(() => Task.WhenAll(Enumerable.Range(0, count).Select(call)));

    private static int LengthOf(ValueTask<int> call)
    {
        while (!call.IsCompleted)
            Thread.SpinWait(20);
        return call.GetAwaiter().GetResult();
    }

    private static async ValueTask Echo(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        await Task.Yield();
        reply.Write(request.Span);
    }
}
