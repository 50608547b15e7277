using System.Diagnostics;

namespace Ipc.Tests;

/// <summary>What a queue does when nobody dies and nobody lies.</summary>
public sealed class QueueTests
{
    public static TheoryData<string> Waits => ["wait=adaptive", "wait=spin", "wait=block"];

    [Fact]
    public void KeepsOrderAndBoundariesAndOutlivesItsMaker()
    {
        using var name = new QueueName();
        using (var maker = name.Open("size=128k"))
        {
            foreach (var text in new[] { "first", "", "a somewhat longer third message", "4" })
                maker.Enqueue(System.Text.Encoding.UTF8.GetBytes(text), Pair.Patience);
        }
        using var next = name.Open("size=1M");
        Assert.Equal((64 * 1024) - 8, next.MaxMessageLength);
        foreach (var text in new[] { "first", "", "a somewhat longer third message", "4" })
            Assert.Equal(text, QueueName.Take(next));
        Assert.Null(QueueName.Take(next));
    }

    [Fact]
    public void RemovedGoesOnForWhoHasItOpen()
    {
        using var name = new QueueName();
        using var one = name.Open();
        using var other = name.Open();
        ManagedIpc.RemoveQueue(name.Address());
        Assert.Equal(IpcStatus.NoServer, Pair.StatusOf(() => ManagedIpc.RemoveQueue(name.Address())));
        using var anew = name.Open();
        one.Enqueue("nameless"u8);
        Assert.Null(QueueName.Take(anew));
        Assert.Equal("nameless", QueueName.Take(other));
    }

    [Fact]
    public void RefusesWhatItCannotBe()
    {
        using var name = new QueueName();
        foreach (var size in new[] { "size=32k", "size=100k", "size=2G", "size=65535" })
            Assert.Equal(IpcStatus.BadOption, Pair.StatusOf(() => name.Open(size)));
        Assert.Equal(IpcStatus.BadAddress, Pair.StatusOf(() => ManagedIpc.OpenQueue("queue://../etc/passwd")));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => ManagedIpc.OpenQueue(name.Address(), -2)));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => ManagedIpc.Listen(name.Address())));
        Assert.Equal(IpcStatus.WrongState, Pair.StatusOf(() => ManagedIpc.OpenQueue("shm://a")));
        Assert.False(File.Exists(name.Path));
    }

    [Fact]
    public void RefusesMessagesOverItsLimit()
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k");
        var longest = Pair.Bytes(queue.MaxMessageLength);
        var buffer = new byte[queue.MaxMessageLength];
        // Twice, so that it stands at the beginning and then not.
        for (var i = 0; i < 2; i++)
        {
            Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => queue.TryEnqueue(new byte[longest.Length + 1])));
            Assert.True(queue.TryEnqueue(longest));
            Assert.Equal(longest.Length, queue.Dequeue(buffer));
            Assert.True(longest.AsSpan().SequenceEqual(buffer));
            queue.Enqueue("between"u8);
            Assert.Equal("between", QueueName.Take(queue));
        }
        using var small = name.Open("max=10");
        Assert.Equal(10, small.MaxMessageLength);
        Assert.Equal(IpcStatus.MessageTooLarge, Pair.StatusOf(() => small.Enqueue("eleven bytes"u8)));
    }

    [Fact]
    public void KeepsAMessageThatDoesNotFitTheBuffer()
    {
        using var name = new QueueName();
        using var queue = name.Open();
        queue.Enqueue("twelve bytes"u8);
        foreach (var room in new[] { 11, 0 })
        {
            var failure = Assert.Throws<IpcException>(() => queue.TryDequeue(new byte[room], out _));
            Assert.Equal(IpcStatus.BufferTooSmall, failure.Status);
            Assert.Contains("12 bytes", failure.Message, StringComparison.Ordinal);
            Assert.Equal(IpcStatus.BufferTooSmall, queue.Take(new byte[room], out var length, 0));
            Assert.Equal(12, length);
        }
        Assert.Equal("twelve bytes", QueueName.Take(queue));
    }

    [Theory]
    [MemberData(nameof(Waits))]
    public void TimesOutWhenFullAndWhenEmpty(string wait)
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k&" + wait);
        var message = Pair.Bytes(1000);
        var clock = Stopwatch.StartNew();
        Assert.False(queue.TryDequeue(new byte[1], out _, 60));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => queue.Dequeue(new byte[1], 0)));
        var count = 0;
        while (queue.TryEnqueue(message))
            count++;
        Assert.Equal(65, count);
        Assert.False(queue.TryEnqueue(message, 60));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => queue.Enqueue(message, 0)));
        Assert.InRange(clock.ElapsedMilliseconds, 117, long.MaxValue);
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => queue.TryEnqueue(message, -2)));
        var buffer = new byte[1000];
        for (var i = 0; i < count; i++)
            Assert.Equal(1000, queue.Dequeue(buffer, 0));
        Assert.False(queue.TryDequeue(buffer, out _));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => queue.TryDequeue(buffer, out _, -2)));
    }

    [Fact]
    public void PassesTheEndOfItsPositions()
    {
        using var name = new QueueName();
        using var file = name.OpenFile();
        const uint Start = uint.MaxValue - (3 * 64 * 1024) - 999;
        foreach (var word in new[] { QueueLayout.Tail, QueueLayout.Head, QueueLayout.HeadSeen, QueueLayout.TailSeen })
            QueueName.Set(file, word, Start);
        using var writer = name.Open();
        using var reader = name.Open();
        var random = new Random(7);
        var model = new Queue<byte[]>();
        var buffer = new byte[reader.MaxMessageLength];
        for (var i = 0; i < 20_000; i++)
        {
            var message = Pair.Bytes(random.Next(8) == 0 ? random.Next(reader.MaxMessageLength + 1) : random.Next(200), i);
            if (random.Next(2) == 0)
            {
                if (writer.TryEnqueue(message))
                    model.Enqueue(message);
                continue;
            }
            Assert.Equal(model.Count > 0, reader.TryDequeue(buffer, out var length));
            if (model.TryDequeue(out var expected))
                Assert.True(expected.AsSpan().SequenceEqual(buffer.AsSpan(0, length)), $"message {i}");
        }
        Assert.InRange(QueueName.Get(file, QueueLayout.Tail), 0u, Start - 1);
    }

    [Theory]
    [MemberData(nameof(Waits))]
    public void CloseInterruptsWhoWaits(string wait)
    {
        foreach (var full in new[] { false, true })
        {
            using var name = new QueueName();
            using var queue = name.Open("size=64k&" + wait);
            using var other = name.Open();
            while (full && queue.TryEnqueue(new byte[8000]))
            {
            }
            var waiting = Aside.Run(() => Pair.StatusOf(() =>
            {
                if (full)
                    queue.Enqueue(new byte[8000]);
                else
                    queue.Dequeue(new byte[8000]);
            }));
            waiting.UntilItWaits();
            var clock = Stopwatch.StartNew();
            queue.Close();
            Assert.Equal(IpcStatus.Closed, waiting.Join());
            Assert.InRange(clock.ElapsedMilliseconds, 0, 1000);
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => queue.TryEnqueue([1])));
            Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => queue.TryDequeue(new byte[1], out _)));
            // The queue itself goes on.
            Assert.Equal(full, other.TryDequeue(new byte[8000], out _));
        }
    }

    [Fact]
    public void AfterDisposeItSaysClosed()
    {
        using var name = new QueueName();
        var queue = name.Open();
        queue.Dispose();
        queue.Dispose();
        queue.Close();
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => queue.TryEnqueue([1])));
        Assert.Equal(IpcStatus.Closed, Pair.StatusOf(() => queue.TryDequeue(new byte[1], out _)));
    }

    [Theory]
    [MemberData(nameof(Waits))]
    public void LosesNothingAmongThreads(string wait)
    {
        const int Writers = 3, Readers = 3, Each = 10_000;
        using var name = new QueueName();
        var seen = new int[Writers * Each];
        var left = Writers * Each;
        var writing = Enumerable.Range(0, Writers).Select(w => Aside.Run(() =>
        {
            using var queue = name.Open("size=64k&" + wait);
            var bytes = new byte[NumberedMessage.Longest];
            for (var n = 0; n < Each; n++)
                queue.Enqueue(bytes.AsSpan(0, new NumberedMessage((uint)w, (uint)n).Write(bytes)), Pair.Patience);
        })).ToList();
        var reading = Enumerable.Range(0, Readers).Select(_ => Aside.Run(() =>
        {
            using var queue = name.Open("size=64k&" + wait);
            var bytes = new byte[NumberedMessage.Longest];
            var next = new uint[Writers];
            while (Volatile.Read(ref left) > 0)
            {
                if (!queue.TryDequeue(bytes, out var length, 20))
                    continue;
                var message = NumberedMessage.Read(bytes.AsSpan(0, length));
                Assert.InRange(message.Number, next[message.Writer], (uint)Each - 1);
                next[message.Writer] = message.Number + 1;
                Interlocked.Increment(ref seen[((int)message.Writer * Each) + (int)message.Number]);
                Interlocked.Decrement(ref left);
            }
        })).ToList();
        writing.ForEach(w => w.Join());
        reading.ForEach(r => r.Join());
        Assert.All(seen, count => Assert.Equal(1, count));
    }

    [Fact]
    public void AllocatesNothing()
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k&wait=block");
        var buffer = new byte[3000];
        long before = 0;
        for (var i = 0; i < 3000; i++)
        {
            if (i == 1000)
                before = GC.GetAllocatedBytesForCurrentThread();
            queue.Enqueue(buffer, Pair.Patience);
            Assert.True(queue.TryEnqueue(buffer.AsSpan(0, 32)));
            queue.Dequeue(buffer, Pair.Patience);
            if (!queue.TryDequeue(buffer, out _) || queue.TryDequeue(buffer, out _) || (i % 100 == 0 && queue.TryDequeue(buffer, out _, 1)))
                Assert.Fail("one message too many or too few");
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 24 * 2000 - 1);
    }
}
