using System.Threading.Channels;

namespace Ipc.Tests;

public sealed class MessageChannelTests
{
    private static readonly CancellationToken s_never = CancellationToken.None;
    private static readonly TimeSpan s_patience = TimeSpan.FromMilliseconds(Pair.Patience);

    public static TheoryData<string> Transports => ["unix", "tcp", "pipe", "fifo", "shm?wait=block", "shm?wait=adaptive", "shm-event?wait=block"];

    [Theory, MemberData(nameof(Transports))]
    public async Task EverythingWrittenIsReadInOrderAndThenTheEnd(string transport)
    {
        using var pair = new Pair(transport);
        var (writer, reader) = (pair.Client.AsChannelWriter(), pair.Server.AsChannelReader());
        var writing = Task.Run(async () =>
        {
            for (var i = 0; i < 300; i++)
                await writer.WriteAsync(Pair.Bytes(i * 100 % 20_011, i), s_never);
            writer.Complete();
        });
        var count = 0;
        await foreach (var message in reader.ReadAllAsync())
        {
            Assert.Equal(Pair.Bytes(count * 100 % 20_011, count), message);
            count++;
        }
        await writing;
        Assert.Equal(300, count);
        await reader.Completion;
        Assert.False(reader.TryRead(out _));
        await Assert.ThrowsAsync<ChannelClosedException>(() => reader.ReadAsync(s_never).AsTask());
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task WithoutWaiting(string transport)
    {
        using var pair = new Pair(transport);
        var (writer, reader) = (pair.Client.AsChannelWriter(), pair.Server.AsChannelReader());
        Assert.False(reader.TryRead(out _));
        Assert.False(reader.TryPeek(out _));
        Assert.True(writer.TryWrite([1, 2, 3]));
        Assert.True(await reader.WaitToReadAsync(s_never));
        Assert.True(reader.TryPeek(out var peeked));
        Assert.True(reader.TryRead(out var read));
        Assert.Equal([1, 2, 3], peeked);
        Assert.Equal([1, 2, 3], read);
        Assert.False(reader.TryRead(out _));
    }

    [Theory]
    [InlineData("unix")]
    [InlineData("shm?wait=block")]
    public async Task AFullWriterRefusesAndLosesNothing(string transport)
    {
        using var pair = new Pair(transport, transport == "unix" ? "" : "size=64k");
        var (writer, reader) = (pair.Client.AsChannelWriter(), pair.Server.AsChannelReader());
        var written = 0;
        while (writer.TryWrite(Pair.Bytes(20_000, written)))
            written++;
        // Nobody reads: the writer stays full.
        Assert.False(writer.WaitToWriteAsync(s_never).AsTask().IsCompleted);
        for (var i = 0; i < written; i++)
            Assert.Equal(Pair.Bytes(20_000, i), await reader.ReadAsync(s_never));
        Assert.True(await writer.WaitToWriteAsync(s_never));
        Assert.True(writer.TryWrite([1]));
        Assert.Equal([1], await reader.ReadAsync(s_never));
    }

    [Fact]
    public async Task ACancelledWaitLosesNoMessage()
    {
        using var pair = new Pair("unix");
        var reader = pair.Server.AsChannelReader();
        using var cancel = new CancellationTokenSource();
        var wait = reader.WaitToReadAsync(cancel.Token).AsTask();
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => wait);
        pair.Client.Send([5]);
        Assert.Equal([5], await reader.ReadAsync(s_never));
    }

    // All at once, on few threads: each of them goes from waiting to trying again and again, and none may keep the others from getting anywhere.
    [Theory, MemberData(nameof(Transports))]
    public async Task SeveralReadersShareTheMessages(string transport)
    {
        for (var round = 0; round < 10; round++)
        {
            using var pair = new Pair(transport);
            var (writer, reader) = (pair.Client.AsChannelWriter(), pair.Server.AsChannelReader());
            var readers = Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
            {
                var sum = 0;
                await foreach (var message in reader.ReadAllAsync())
                    sum += message[0];
                return sum;
            })).ToArray();
            for (var i = 0; i < 100; i++)
                await writer.WriteAsync([1], s_never).AsTask().WaitAsync(s_patience);
            writer.Complete();
            Assert.Equal(100, (await Task.WhenAll(readers).WaitAsync(s_patience)).Sum());
        }
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task SeveralWritersTakeTurns(string transport)
    {
        using var pair = new Pair(transport);
        var (writer, reader) = (pair.Client.AsChannelWriter(), pair.Server.AsChannelReader());
        var writers = Enumerable.Range(0, 8).Select(number => Task.Run(async () =>
        {
            for (var i = 0; i < 50; i++)
            {
                var message = Pair.Bytes(10_000, number);
                while (!writer.TryWrite(message))
                    Assert.True(await writer.WaitToWriteAsync(s_never));
            }
        })).ToArray();
        var reading = Task.Run(async () =>
        {
            for (var i = 0; i < 8 * 50; i++)
                Assert.Equal(10_000, (await reader.ReadAsync(s_never)).Length);
        });
        foreach (var writing in writers)
            await writing.WaitAsync(s_patience);
        await reading.WaitAsync(s_patience);
    }

    [Fact]
    public async Task WhoWaitsGoesOnWhenTheReceiverIsCancelled()
    {
        using var pair = new Pair("unix");
        var reader = pair.Server.AsChannelReader();
        using var cancel = new CancellationTokenSource();
        var first = reader.WaitToReadAsync(cancel.Token).AsTask();
        var second = reader.WaitToReadAsync(s_never).AsTask();
        Assert.False(reader.TryRead(out _));
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        pair.Client.Send([5]);
        Assert.True(await second.WaitAsync(s_patience));
        Assert.True(reader.TryRead(out var message));
        Assert.Equal([5], message);
    }

    [Fact]
    public async Task CompletingEndsAWaitToWrite()
    {
        using var pair = new Pair("unix");
        var writer = pair.Client.AsChannelWriter(leaveOpen: true);
        while (writer.TryWrite(new byte[20_000]))
        {
        }
        var wait = writer.WaitToWriteAsync(s_never).AsTask();
        Assert.True(writer.TryComplete());
        Assert.False(await wait.WaitAsync(s_patience));
        pair.Client.Close();
    }

    [Fact]
    public async Task ObjectsGoThroughASerializer()
    {
        using var pair = new Pair("shm?wait=block");
#pragma warning disable IL2026, IL3050 // Tests are not trimmed.
        var json = JsonIpcSerializer.ByReflection();
#pragma warning restore IL2026, IL3050
        var (writer, reader) = (pair.Client.AsChannelWriter<string[]>(json), pair.Server.AsChannelReader<string[]>(json));
        await writer.WriteAsync(["a", "b"], s_never);
        Assert.Equal(["a", "b"], await reader.ReadAsync(s_never));
        // One that is none costs only itself.
        pair.Client.Send([1]);
        await writer.WriteAsync(["c"], s_never);
        await Assert.ThrowsAnyAsync<System.Text.Json.JsonException>(() => reader.ReadAsync(s_never).AsTask());
        Assert.Equal(["c"], await reader.ReadAsync(s_never));
    }

    [Fact]
    public async Task AFailureOfTheChannelIsTheReaders()
    {
        using var pair = new Pair("unix");
        var reader = pair.Server.AsChannelReader();
        var wait = reader.WaitToReadAsync(s_never).AsTask();
        pair.Server.Close();
        Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => wait)).Status);
        Assert.False(reader.TryRead(out _));
        Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => reader.Completion)).Status);
    }

    [Fact]
    public async Task AWriterCompletesOnceAndCanLeaveTheChannelOpen()
    {
        using var pair = new Pair("unix");
        var writer = pair.Client.AsChannelWriter(leaveOpen: true);
        Assert.True(writer.TryComplete());
        Assert.False(writer.TryComplete());
        Assert.False(writer.TryWrite([1]));
        Assert.False(await writer.WaitToWriteAsync(s_never));
        await Assert.ThrowsAsync<ChannelClosedException>(() => writer.WriteAsync([1], s_never).AsTask());
        pair.Client.Send([2]);
        Assert.Equal(1, pair.Server.Receive(new byte[1], Pair.Patience));
        var failing = pair.Server.AsChannelWriter();
        Assert.True(failing.TryComplete(new InvalidOperationException("no more")));
        var why = await Assert.ThrowsAsync<ChannelClosedException>(() => failing.WaitToWriteAsync(s_never).AsTask());
        Assert.IsType<InvalidOperationException>(why.InnerException);
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => pair.Client.Receive(new byte[1], Pair.Patience)));
    }
}
