using System.Globalization;
using Ipc.Conformance.Puppets;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Queues between processes of different sides: one layout, whoever speaks it.</summary>
public class QueueTests
{
    /// <summary>How many messages go through in <see cref="ThreePublishersAndThreeSubscribersLoseNothing"/>: a few by default, any
    /// number (10000000) by this variable.</summary>
    private const string MessagesVariable = "IPC_QUEUE_MESSAGES";
    private const int Patience = 20_000;

    private static readonly string[] s_sides = ["native", "managed", "bound"];
    private static int s_counter;

    // Read when the library is first needed in this process, so it must be set before.
    static QueueTests() => BoundLibrary.Choose();

    private static string NewAddress() => string.Create(CultureInfo.InvariantCulture,
        $"queue://conformance-queue-{Environment.ProcessId}-{Interlocked.Increment(ref s_counter)}"); // none that a stage looks for

    public static TheoryData<string, string> Pairs()
    {
        var data = new TheoryData<string, string>();
        foreach (var from in s_sides)
        {
            foreach (var to in s_sides)
                data.Add(from, to);
        }
        return data;
    }

    public static TheoryData<string> Sides => new(s_sides);

    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task MessagesOutliveTheProcessThatPutThemIn(string from, string to)
    {
        var address = NewAddress();
        int[] lengths = [0, 1, 7, 8, 9, 1000, 32_000, 0, 20_000, 3];
        try
        {
            using (var publisher = new PuppetProcess(from))
            {
                await publisher.Ok($"open-queue q {address}?size=128k 1000");
                for (var i = 0; i < lengths.Length; i++)
                    await publisher.Ok($"enqueue q {lengths[i]} 5 {i} 1000");
                publisher.Kill();
            }
            using var subscriber = new PuppetProcess(to);
            await subscriber.Ok($"open-queue q {address} 1000");
            await subscriber.Ok("queue-limit q", (64 * 1024) - 8);
            for (var i = 0; i < lengths.Length; i++)
            {
                if (lengths[i] > 0)
                    await subscriber.Refuses(IpcStatus.BufferTooSmall, $"dequeue q {lengths[i] - 1} 5 {i} 1000");
                await subscriber.Ok($"dequeue q {lengths[i]} 5 {i} 1000", lengths[i]);
            }
            await subscriber.Refuses(IpcStatus.TimedOut, "dequeue q 10 5 0 0");
            await subscriber.Refuses(IpcStatus.MessageTooLarge, "enqueue q 65529 5 0 0");
            await subscriber.Ok($"remove-queue {address}");
            await subscriber.Refuses(IpcStatus.NoServer, $"remove-queue {address}");
        }
        finally
        {
            Remove(address);
        }
    }

    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task AParkedSubscriberIsWokenAndAClosedOneToldSo(string from, string to)
    {
        var address = NewAddress();
        using var publisher = PuppetPool.Rent(from);
        using var subscriber = PuppetPool.Rent(to);
        try
        {
            await publisher.Ok($"open-queue q {address}?wait=block 1000");
            await subscriber.Ok($"open-queue q {address}?wait=block 1000");
            for (var i = 0; i < 5; i++)
            {
                var taking = subscriber.Give("taker", $"dequeue q 100 5 {i} {Patience}");
                await Task.Delay(20);
                await publisher.Ok($"enqueue q 100 5 {i} 1000");
                (await taking).Ok(100);
            }
            var waiting = subscriber.Give("taker", "dequeue q 100 5 0 -1");
            await Task.Delay(50);
            await subscriber.Ok("close q");
            (await waiting).Refused(IpcStatus.Closed);
        }
        finally
        {
            Remove(address);
        }
    }

    [Fact]
    public async Task ThreePublishersAndThreeSubscribersLoseNothing()
    {
        var each = int.Parse(Environment.GetEnvironmentVariable(MessagesVariable) ?? "60000", CultureInfo.InvariantCulture) / 3;
        var longest = TimeSpan.FromSeconds(60 + (each / 10_000));
        var address = NewAddress();
        var publishers = s_sides.Select(PuppetPool.Rent).ToList();
        var subscribers = s_sides.Select(PuppetPool.Rent).ToList();
        try
        {
            foreach (var puppet in publishers.Concat(subscribers))
                await puppet.Ok($"open-queue q {address} 1000");
            var draining = subscribers.Select(s => s.Give("drain", "drain q", longest)).ToList();
            var pouring = publishers.Select((p, writer) => p.Give("pour", $"pour q {writer} {each}", longest)).ToList();
            foreach (var answer in await Task.WhenAll(pouring))
                answer.Ok();
            foreach (var _ in subscribers)
                await publishers[0].Ok($"enqueue q 1 0 0 {Patience}");
            var tallies = (await Task.WhenAll(draining)).SelectMany(a => a.Ok().Split(' ', StringSplitOptions.RemoveEmptyEntries))
                .Select(t => t.Split(':').Select(number => ulong.Parse(number, CultureInfo.InvariantCulture)).ToArray()).ToList();
            for (ulong writer = 0; writer < 3; writer++)
            {
                var own = tallies.Where(t => t[0] == writer).ToList();
                ulong n = (ulong)each, squares = 0;
                for (ulong i = 0; i < n; i++)
                    squares = unchecked(squares + (i * i));
                Assert.Equal(n, Total(own, 1));
                Assert.Equal(n * (n - 1) / 2, Total(own, 2));
                Assert.Equal(squares, Total(own, 3));
            }
        }
        finally
        {
            foreach (var puppet in publishers.Concat(subscribers))
                puppet.Dispose();
            Remove(address);
        }
        static ulong Total(List<ulong[]> tallies, int column) => tallies.Aggregate(0UL, (sum, tally) => unchecked(sum + tally[column]));
    }

    /// <summary>A publisher and a subscriber killed at any moment, again and again: the others go on, each writer's messages arrive
    /// whole and without a gap, up to where it was killed.</summary>
    // This process is one of the queue's users, which it cannot be of one that stands in Wine.
    [Trait("system", "linux")]
    [Theory]
    [MemberData(nameof(Sides))]
    public async Task KilledPublishersLeaveNoGap(string victim)
    {
        var address = NewAddress();
        using var queue = victim == "managed" ? NativeIpc.OpenQueue(address) : ManagedIpc.OpenQueue(address);
        try
        {
            for (uint writer = 0; writer < 5; writer++)
            {
                using var puppet = new PuppetProcess(victim);
                await puppet.Ok($"open-queue q {address} 1000");
                var pouring = puppet.Give("pour", $"pour q {writer} 4000000000");
                uint next = 0;
                var end = Environment.TickCount64 + 30 + Random.Shared.Next(40);
                while (Environment.TickCount64 < end || next == 0)
                    TakeNext(queue, writer, ref next, 1000);
                puppet.Kill();
                await Assert.ThrowsAsync<ConformanceException>(() => pouring);
                while (TakeNext(queue, writer, ref next, 0))
                {
                }
                queue.Enqueue([1, 2, 3], Patience);
                Assert.Equal(3, queue.Dequeue(new byte[3], Patience));
            }
        }
        finally
        {
            Remove(address);
        }
    }

    private static bool TakeNext(IpcQueue queue, uint writer, ref uint next, int timeoutMilliseconds)
    {
        Span<byte> bytes = stackalloc byte[300];
        if (!queue.TryDequeue(bytes, out var length, timeoutMilliseconds))
            return false;
        Assert.Equal(writer, BitConverter.ToUInt32(bytes));
        Assert.Equal(next, BitConverter.ToUInt32(bytes[4..]));
        Assert.Equal(8 + (int)(((next * 7) + writer) % 292), length);
        for (var at = 8; at < length; at++)
            Assert.Equal((byte)(((next * 2654435761u) + (writer * 40503u) + ((uint)at * 131u)) >> 8), bytes[at]);
        next++;
        return true;
    }

    /// <summary>In one process: what the bound side must do itself.</summary>
    [Trait("system", "linux")]
    [Fact]
    public void TheBoundQueueKeepsTheContract()
    {
        var address = NewAddress();
        using var managed = ManagedIpc.OpenQueue(address + "?size=64k");
        var bound = NativeIpc.OpenQueue(address, 1000);
        try
        {
            Assert.Equal(managed.MaxMessageLength, bound.MaxMessageLength);
            var buffer = new byte[100];
            long before = 0;
            for (var i = 0; i < 3000; i++)
            {
                if (i == 1000)
                    before = GC.GetAllocatedBytesForCurrentThread();
                Assert.True(bound.TryEnqueue(buffer.AsSpan(0, 32)));
                Assert.True(managed.TryDequeue(buffer, out var length) && length == 32);
                managed.Enqueue(buffer.AsSpan(0, 40), Patience);
                if (bound.Dequeue(buffer, Patience) != 40 || bound.TryDequeue(buffer, out _))
                    Assert.Fail("one message too many or of another length");
            }
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (24 * 2000) - 1);
            managed.Enqueue(new byte[50]);
            var failure = Assert.Throws<IpcException>(() => bound.Dequeue(new byte[49], 0));
            Assert.Equal(IpcStatus.BufferTooSmall, failure.Status);
            Assert.Contains("50 bytes", failure.Message, StringComparison.Ordinal);
            Assert.Equal(IpcStatus.MessageTooLarge, Assert.Throws<IpcException>(() => bound.Enqueue(new byte[bound.MaxMessageLength + 1])).Status);
            Assert.Equal(IpcStatus.InvalidArgument, Assert.Throws<IpcException>(() => bound.Enqueue([1], -2)).Status);
            Assert.Equal(IpcStatus.WrongState, Assert.Throws<IpcException>(() => NativeIpc.OpenQueue("shm://a")).Status);
            bound.Close();
            Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => bound.Enqueue([1])).Status);
            bound.Dispose();
            bound.Dispose();
            bound.Close();
            Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => bound.TryEnqueue([1])).Status);
            Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => bound.TryDequeue(buffer, out _)).Status);
            NativeIpc.RemoveQueue(address);
            Assert.Equal(IpcStatus.NoServer, Assert.Throws<IpcException>(() => NativeIpc.RemoveQueue(address)).Status);
        }
        finally
        {
            bound.Dispose();
            Remove(address);
        }
    }

    private static void Remove(string address)
    {
        try
        {
            ManagedIpc.RemoveQueue(address);
        }
        catch (IpcException e) when (e.Status == IpcStatus.NoServer)
        {
            // The test has removed it.
        }
    }
}
