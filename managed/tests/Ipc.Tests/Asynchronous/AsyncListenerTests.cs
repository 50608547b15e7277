namespace Ipc.Tests;

public sealed class AsyncListenerTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task AcceptsSeveralAtOnce(string transport)
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        var accepting = Enumerable.Range(0, 5).Select(_ => listener.AcceptAsync().AsTask()).ToArray();
        var connecting = Enumerable.Range(0, 5).Select(_ => ManagedIpc.ConnectAsync(listener.Address).AsTask()).ToArray();
        var clients = await Task.WhenAll(connecting).WaitAsync(s_patience);
        var servers = await Task.WhenAll(accepting).WaitAsync(s_patience);
        foreach (var client in clients)
            client.Send([7]);
        foreach (var server in servers)
            Assert.Equal(1, await server.ReceiveAsync(new byte[1]).AsTask().WaitAsync(s_patience));
        foreach (var channel in clients.Concat(servers))
            channel.Dispose();
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ACancelledAcceptLosesNoClient(string transport)
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        using var cancellation = new CancellationTokenSource();
        var accepting = listener.AcceptAsync(cancellation.Token).AsTask();
        Assert.False(accepting.IsCompleted);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => accepting.WaitAsync(s_patience));
        var connecting = ManagedIpc.ConnectAsync(listener.Address).AsTask();
        using var server = await listener.AcceptAsync().AsTask().WaitAsync(s_patience);
        using var client = await connecting.WaitAsync(s_patience);
        client.Send([1]);
        Assert.Equal(1, server.Receive(new byte[1], Pair.Patience));
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public async Task ClosingInterruptsAccepts(string transport)
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress(transport));
        var accepting = new[] { listener.AcceptAsync().AsTask(), listener.AcceptAsync().AsTask() };
        await Task.Delay(20);
        listener.Close();
        foreach (var one in accepting)
            Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => one.WaitAsync(s_patience))).Status);
    }

    [Theory]
    [InlineData("unix")]
    [InlineData("shm")]
    public async Task NobodyThereIsSaidAtOnce(string transport)
    {
        var connecting = ManagedIpc.ConnectAsync(Pair.NewAddress(transport)).AsTask();
        Assert.Equal(IpcStatus.NoServer, (await Assert.ThrowsAsync<IpcException>(() => connecting.WaitAsync(s_patience))).Status);
    }

    [Fact]
    public async Task ACancelledConnectReturnsAtOnce()
    {
        // A server of shared memory that never accepts.
        using var listener = ManagedIpc.Listen(Pair.NewAddress("shm"));
        using var cancellation = new CancellationTokenSource();
        var connecting = ManagedIpc.ConnectAsync(listener.Address, cancellation.Token).AsTask();
        await Task.Delay(50);
        Assert.False(connecting.IsCompleted);
        cancellation.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.WaitAsync(s_patience));
    }
}
