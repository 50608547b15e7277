using System.Buffers;
using Xunit;

namespace Ipc.Hosting.Tests;

/// <summary>Channels as streams and as pipes.</summary>
public sealed class StreamTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    public static TheoryData<string> Transports => new("shm", "unix", "pipe", "shm-event", "tcp");

    private static async Task<(IpcChannel Server, IpcChannel Client)> ConnectAsync(string transport)
    {
        using var listener = ManagedIpc.Listen(transport == "tcp" ? "tcp://0" : $"{transport}://stream-{Guid.NewGuid():N}");
        var accepting = listener.AcceptAsync().AsTask();
        var client = await ManagedIpc.ConnectAsync(listener.Address).AsTask().WaitAsync(s_patience);
        return (await accepting.WaitAsync(s_patience), client);
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task BytesArriveInOrderWhateverTheyAreCutInto(string transport)
    {
        var (server, client) = await ConnectAsync(transport);
        await using var reading = new IpcStream(server);
        var random = new Random(7);
        var sent = new byte[300_000];
        random.NextBytes(sent);
        var writing = Task.Run(async () =>
        {
            await using var stream = new IpcStream(client);
            for (var at = 0; at < sent.Length;)
            {
                var length = Math.Min(random.Next(0, 70_000), sent.Length - at);
                if (length % 2 == 0)
                    await stream.WriteAsync(sent.AsMemory(at, length));
                else
                    stream.Write(sent.AsSpan(at, length));
                at += length;
            }
            await stream.FlushAsync();
        });
        var come = new ArrayBufferWriter<byte>();
        for (var turn = 0; ; turn++)
        {
            // A read of nothing waits until there is something.
            if (turn % 5 == 0)
                Assert.Equal(0, await reading.ReadAsync(Memory<byte>.Empty).AsTask().WaitAsync(s_patience));
            var buffer = come.GetMemory(turn % 3 == 0 ? 50_000 : 3_000)[..(turn % 3 == 0 ? 50_000 : 3_000)];
            var length = turn % 2 == 0 ? await reading.ReadAsync(buffer).AsTask().WaitAsync(s_patience) : reading.Read(buffer.Span);
            if (length == 0)
                break;
            come.Advance(length);
        }
        await writing.WaitAsync(s_patience);
        Assert.True(sent.AsSpan().SequenceEqual(come.WrittenSpan));
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task ACancelledReadLosesNothingAndDisposingEndsOne(string transport)
    {
        var (server, client) = await ConnectAsync(transport);
        using var there = new IpcStream(client);
        var here = new IpcStream(server);
        using (var cancel = new CancellationTokenSource(20))
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => here.ReadAsync(new byte[10], cancel.Token).AsTask().WaitAsync(s_patience));
        await there.WriteAsync("abc"u8.ToArray());
        var buffer = new byte[2];
        await here.ReadExactlyAsync(buffer).AsTask().WaitAsync(s_patience);
        Assert.Equal("ab"u8, buffer);
        Assert.Equal(1, await here.ReadAsync(buffer).AsTask().WaitAsync(s_patience));
        var pending = here.ReadAsync(buffer).AsTask();
        here.Dispose();
        await Assert.ThrowsAnyAsync<IOException>(() => pending.WaitAsync(s_patience));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => here.ReadAsync(buffer).AsTask());
        Assert.Equal(0, await there.ReadAsync(buffer).AsTask().WaitAsync(s_patience));
    }

    [Fact]
    public async Task AChannelIsAPairOfPipes()
    {
        var (server, client) = await ConnectAsync("shm");
        using (server)
        using (client)
        {
            var (there, here) = (client.AsDuplexPipe(), server.AsDuplexPipe());
            there.Output.Write("abc"u8);
            await there.Output.FlushAsync().AsTask().WaitAsync(s_patience);
            var read = await here.Input.ReadAtLeastAsync(3).AsTask().WaitAsync(s_patience);
            Assert.Equal("abc"u8, read.Buffer.ToArray());
            here.Input.AdvanceTo(read.Buffer.End);
            await there.Output.CompleteAsync();
            await there.Input.CompleteAsync();
            // The channel is still its owner's.
            client.Send("d"u8);
            read = await here.Input.ReadAsync().AsTask().WaitAsync(s_patience);
            Assert.Equal("d"u8, read.Buffer.ToArray());
        }
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task MessagesInPiecesAndBuffersThatGrow(string transport)
    {
        var (server, client) = await ConnectAsync(transport);
        using var there = server;
        using var here = client;
        var bytes = new byte[50_000];
        new Random(3).NextBytes(bytes);
        var first = new Piece(bytes.AsMemory(0, 20_000));
        var pieces = new ReadOnlySequence<byte>(first, 0, first.Followed(bytes.AsMemory(20_000)), 30_000);
        var received = new ArrayBufferWriter<byte>();
        var receiving = Task.Run(() => there.Receive(received, 30_000) + there.Receive(received, 30_000));
        here.Send(pieces, 30_000);
        await here.SendAsync(pieces).AsTask().WaitAsync(s_patience);
        Assert.Equal(100_000, await receiving.WaitAsync(s_patience));
        Assert.True(received.WrittenSpan[..50_000].SequenceEqual(bytes) && received.WrittenSpan[50_000..].SequenceEqual(bytes));

        var answering = Task.Run(() =>
        {
            there.ReceiveRequest(30_000);
            there.Reply(pieces, 30_000);
        });
        received.Clear();
        Assert.Equal(50_000, here.Call([1], received, 30_000));
        Assert.True(received.WrittenSpan.SequenceEqual(bytes));
        await answering.WaitAsync(s_patience);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory) => Memory = memory;

        public Piece Followed(ReadOnlyMemory<byte> memory)
        {
            var next = new Piece(memory) { RunningIndex = Memory.Length };
            Next = next;
            return next;
        }
    }
}
