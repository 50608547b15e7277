namespace Ipc.Tests;

/// <summary>Operations that have nothing to wait for but by blocking leave the pool alone, so that the program and its timers go on.</summary>
public sealed class BlockingThreadTests
{
    // The pool adds one or two threads a second: had these blocked its threads, the work queued behind them would come too late.
    private const int Many = 60;

    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    [Fact]
    public async Task WaitingChannelsLeaveThePoolFree()
    {
        // The pool begins with a thread for each processor. No more than needed: these spin.
        var pairs = Enumerable.Range(0, Environment.ProcessorCount + 4).Select(_ => new Pair("shm-event?wait=spin")).ToList();
        var waiting = pairs.ConvertAll(pair => pair.Server.ReceiveAsync(new byte[1]).AsTask());
        AssertThePoolIsFree();
        Assert.DoesNotContain(waiting, task => task.IsCompleted);
        foreach (var pair in pairs)
            pair.Client.Send([1]);
        Assert.All(await Task.WhenAll(waiting).WaitAsync(s_patience), length => Assert.Equal(1, length));
        pairs.ForEach(pair => pair.Dispose());
    }

    [Fact]
    public async Task WaitingListenersLeaveThePoolFree()
    {
        var listeners = Enumerable.Range(0, Many).Select(_ => ManagedIpc.Listen(Pair.NewAddress("fifo"))).ToList();
        using var cancellation = new CancellationTokenSource();
        var accepting = listeners.ConvertAll(listener => listener.AcceptAsync(cancellation.Token).AsTask());
        AssertThePoolIsFree();
        await cancellation.CancelAsync();
        foreach (var accept in accepting)
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => accept.WaitAsync(s_patience));
        listeners.ForEach(listener => listener.Dispose());
    }

    [Fact]
    public async Task ConnectingLeavesThePoolFree()
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress("shm"));
        var connecting = Enumerable.Range(0, Many).Select(_ => ManagedIpc.ConnectAsync(listener.Address).AsTask()).ToList();
        AssertThePoolIsFree();
        for (var i = 0; i < Many; i++)
            listener.Accept(Pair.Patience).Dispose();
        foreach (var client in await Task.WhenAll(connecting).WaitAsync(s_patience))
            client.Dispose();
    }

    // Ten seconds of spinning: what comes meanwhile is there when the method returns, and a token ends it as it ends every wait.
    [Theory]
    [InlineData("shm?wait=spin&spin=10000000")]
    [InlineData("shm-event?wait=spin&spin=10000000")]
    public async Task WhoWaitsBySpinningSpinsBeforeAThreadIsBlocked(string transport)
    {
        if (Environment.ProcessorCount == 1)
            return; // nobody spins there
        using var pair = new Pair(transport);
        var buffer = new byte[1];
        var sending = Aside.Run(() =>
        {
            Thread.Sleep(50);
            pair.Client.Send([7]);
            return true;
        });
        var receiving = pair.Server.ReceiveAsync(buffer);
        Assert.True(receiving.IsCompletedSuccessfully, "the message came while the caller was to spin, and another thread was given it");
        Assert.Equal((1, 7), (await receiving, buffer[0]));
        Assert.True(sending.Join());

        using var cancellation = new CancellationTokenSource(50);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pair.Server.ReceiveAsync(buffer, cancellation.Token).AsTask().WaitAsync(s_patience));
        pair.Client.Send([8]);
        Assert.Equal((1, 8), (pair.Server.Receive(buffer, Pair.Patience), buffer[0]));
    }

    private static void AssertThePoolIsFree()
    {
        using var done = new ManualResetEventSlim();
        ThreadPool.UnsafeQueueUserWorkItem(_ => done.Set(), null);
        Assert.True(done.Wait(s_patience), "what is queued to the pool waits for threads that block");
    }
}
