using System.Globalization;
using System.Runtime.ExceptionServices;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>No method allocates per message, on either end, in place or copied.</summary>
[Trait("system", "linux")]
public class AllocationTests
{
    private const int Warmup = 300;
    private const int Counted = 2000;

    static AllocationTests() => BoundLibrary.Choose();

    public static TheoryData<string, string> DotNetSides()
    {
        var data = new TheoryData<string, string>();
        foreach (var transport in Pairs.Transports)
        {
            foreach (var side in new[] { "managed", "bound" }.Where(side => Registry.WhyNotAvailable(transport.Id, side).Length == 0))
                data.Add(transport.Id, side);
        }
        return data;
    }

    [Theory, MemberData(nameof(DotNetSides))]
    public async Task CallsAllocateNothing(string transport, string side)
    {
        using var listener = Listen(transport, side);
        var served = Task.Factory.StartNew(() => Serve(listener), TaskCreationOptions.LongRunning);
        var called = Task.Factory.StartNew(() => Call(listener.Address, side), TaskCreationOptions.LongRunning);
        var (client, server) = (await called.WaitAsync(TimeSpan.FromSeconds(20)), await served.WaitAsync(TimeSpan.FromSeconds(20)));
        // Less than a byte a call: a wake-up of the runtime itself may show once, an allocation per call cannot hide.
        Assert.True(client < Counted, $"the client allocated {client.ToString(CultureInfo.InvariantCulture)} bytes over {Counted} rounds");
        Assert.True(server < Counted, $"the server allocated {server.ToString(CultureInfo.InvariantCulture)} bytes over {Counted} rounds");
    }

    [Theory, MemberData(nameof(DotNetSides))]
    public async Task PollingAllocatesNothing(string transport, string side)
    {
        using var listener = Listen(transport, side);
        var connecting = Task.Run(() => Connect(listener.Address, side));
        using var server = listener.Accept(5000);
        using var client = await connecting;
        var allocated = AllocatedByPolling(server);
        Assert.True(allocated < Counted, $"{allocated.ToString(CultureInfo.InvariantCulture)} bytes over {Counted} polls that found nothing");
    }

    /// <summary>The same of subscribers, both while nothing has been published and when all of it has been received; and nothing is
    /// thrown inside either, which a debugger and a profiler would show.</summary>
    [Theory]
    [InlineData("managed", "")]
    [InlineData("managed", "?policy=drop")]
    [InlineData("bound", "")]
    [InlineData("bound", "?policy=drop")]
    public void PollingABroadcastAllocatesAndThrowsNothing(string side, string option)
    {
        var address = $"broadcast://conformance-allocation-{Guid.NewGuid():N}";
        using var publisher = ManagedIpc.Publish(address);
        using var subscriber = side == "bound" ? NativeIpc.Subscribe(address + option, 5000) : ManagedIpc.Subscribe(address + option, 5000);
        AssertPollsAreFree(buffer => subscriber.TryReceive(buffer, out var length, out var lost) || length != 0 || lost != 0);
        publisher.Publish([1, 2, 3], 5000);
        Assert.True(subscriber.TryReceive(new byte[3], out var received, out _, 5000) && received == 3);
        AssertPollsAreFree(buffer => subscriber.TryReceive(buffer, out var length, out var lost) || length != 0 || lost != 0);
    }

    [Theory]
    [InlineData("managed", "queue")]
    [InlineData("managed", "ring")]
    [InlineData("bound", "queue")]
    [InlineData("bound", "ring")]
    public void PollingAQueueAllocatesAndThrowsNothing(string side, string transport)
    {
        var address = $"{transport}://conformance-allocation-{Guid.NewGuid():N}";
        using var queue = side == "bound" ? NativeIpc.OpenQueue(address) : ManagedIpc.OpenQueue(address);
        try
        {
            AssertPollsAreFree(buffer => queue.TryDequeue(buffer, out var length) || length != 0);
            while (queue.TryEnqueue(new byte[100])) // until it is full
            {
            }
            AssertPollsAreFree(buffer => queue.TryEnqueue(buffer));
        }
        finally
        {
            ManagedIpc.RemoveQueue(address);
        }
    }

    private static long AllocatedByPolling(IpcChannel channel) => AllocatedByPolling(buffer => channel.TryReceive(buffer, out _));

    private static long AllocatedByPolling(Predicate<byte[]> poll)
    {
        var buffer = new byte[100];
        long before = 0;
        for (var i = 0; i < Warmup + Counted; i++)
        {
            if (i == Warmup)
                before = GC.GetAllocatedBytesForCurrentThread();
            Assert.False(poll(buffer));
        }
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static void AssertPollsAreFree(Predicate<byte[]> poll)
    {
        var thread = Environment.CurrentManagedThreadId;
        var thrown = 0;
        void Count(object? sender, FirstChanceExceptionEventArgs e) => thrown += Environment.CurrentManagedThreadId == thread ? 1 : 0;
        AppDomain.CurrentDomain.FirstChanceException += Count;
        long allocated;
        try
        {
            allocated = AllocatedByPolling(poll);
        }
        finally
        {
            AppDomain.CurrentDomain.FirstChanceException -= Count;
        }
        Assert.Equal(0, thrown);
        Assert.True(allocated < Counted, $"{allocated.ToString(CultureInfo.InvariantCulture)} bytes over {Counted} polls that found nothing");
    }

    private static IpcListener Listen(string transport, string side)
    {
        var name = Registry.Transport(transport).NameForm.StartsWith("port", StringComparison.Ordinal)
            ? "127.0.0.1:0"
            : string.Create(CultureInfo.InvariantCulture, $"conformance-allocation-{side}-{Environment.ProcessId}");
        var address = $"{transport}://{name}";
        return side == "bound" ? NativeIpc.Listen(address) : ManagedIpc.Listen(address);
    }

    private static IpcChannel Connect(string address, string side) =>
        side == "bound" ? NativeIpc.Connect(address, 5000) : ManagedIpc.Connect(address, 5000);

    private static long Call(string address, string side)
    {
        using var channel = Connect(address, side);
        var (request, reply) = (new byte[3000], new byte[3000]);
        long before = 0;
        for (var i = 0; i < Warmup + Counted; i++)
        {
            if (i == Warmup)
                before = GC.GetAllocatedBytesForCurrentThread();
            // The longest first: buffers that are kept from message to message have their size before the count begins.
            var sent = request.AsSpan(0, request.Length - (i % request.Length));
            if (channel.Call(sent, reply, 5000) != sent.Length)
                throw new InvalidOperationException("the echo has another length");
            if (channel.CallInPlace(sent, 5000).Length != sent.Length)
                throw new InvalidOperationException("the echo in place has another length");
            channel.Release();
        }
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static long Serve(IpcListener listener)
    {
        using var channel = listener.Accept(5000);
        long before = 0;
        for (var i = 0; i < 2 * (Warmup + Counted); i++)
        {
            if (i == 2 * Warmup)
                before = GC.GetAllocatedBytesForCurrentThread();
            var request = channel.ReceiveRequest(5000);
            if (i % 3 == 0)
            {
                request.CopyTo(channel.ReserveReply(request.Length, 5000));
                channel.CommitReply(request.Length, 5000);
            }
            else
            {
                channel.Reply(request, 5000);
            }
        }
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
