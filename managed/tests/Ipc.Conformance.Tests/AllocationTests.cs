using System.Globalization;
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

    private static long AllocatedByPolling(IpcChannel channel)
    {
        var buffer = new byte[100];
        long before = 0;
        for (var i = 0; i < Warmup + Counted; i++)
        {
            if (i == Warmup)
                before = GC.GetAllocatedBytesForCurrentThread();
            Assert.False(channel.TryReceive(buffer, out _));
        }
        return GC.GetAllocatedBytesForCurrentThread() - before;
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
