using System.Globalization;
using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>32-bit processes with 64-bit ones, over every transport: what the other classes ask of pairs of one word size.</summary>
public class BitnessTests
{
    private const int Patience = 20_000;
    private static int s_counter;

    private static readonly (string From, string To)[] s_pairs =
    [
        (ThirtyTwoBits.Side, "native"), ("native", ThirtyTwoBits.Side),
        (ThirtyTwoBits.Side, "managed"), ("managed", ThirtyTwoBits.Side),
    ];

    // Modules are one build with their foreign libraries, which exist in the machine's own word size.
    private static IEnumerable<(TransportEntry Transport, string Server, string Client)> In(IEnumerable<TransportEntry> transports) =>
        from transport in transports
        where transport.Module is null && Exists(transport, "native")
        from pair in s_pairs
        where Exists(transport, "managed") || (pair.From != "managed" && pair.To != "managed")
        select (transport, pair.From, pair.To);

    private static bool Exists(TransportEntry transport, string side) => Registry.WhyNotAvailable(transport.Id, side, PuppetSystem.Platform).Length == 0;

    public static TheoryData<string, string, string> Channels() => Conformance.Pairs.Of(In(Conformance.Pairs.Transports));

    public static TheoryData<string, string, string> Calls() => Conformance.Pairs.Of(In(Conformance.Pairs.CallTransports));

    public static TheoryData<string, string, string> Callable() => Conformance.Pairs.Of(In(Conformance.Pairs.CallableTransports));

    public static TheoryData<string, string, string, string> ChannelsByWait() => Conformance.Pairs.ByWait(In(Conformance.Pairs.Transports));

    public static TheoryData<string, string, string> WaitingChannels() => Conformance.Pairs.Of(In(Conformance.Pairs.WaitingTransports));

    public static TheoryData<string, string> Pairs()
    {
        var data = new TheoryData<string, string>();
        foreach (var (from, to) in s_pairs)
            data.Add(from, to);
        return data;
    }

    [BitnessTheory, MemberData(nameof(Channels))]
    public Task EverySizeBothWays(string transport, string server, string client) => new MessageTests().EverySizeBothWays(transport, server, client);

    [BitnessTheory, MemberData(nameof(Channels))]
    public Task BatchesInOrderBothWaysAtOnce(string transport, string server, string client) =>
        new MessageTests().BatchesInOrderBothWaysAtOnce(transport, server, client);

    [BitnessTheory, MemberData(nameof(Channels))]
    public Task LongMessagesInOrderBothWaysAtOnce(string transport, string server, string client) =>
        new MessageTests().LongMessagesInOrderBothWaysAtOnce(transport, server, client);

    [BitnessTheory, MemberData(nameof(Callable))]
    public Task EverySizeOfRequest(string transport, string server, string client) => new CallTests().EverySizeOfRequest(transport, server, client);

    [BitnessTheory, MemberData(nameof(Callable))]
    public Task AFaultCarriesItsText(string transport, string server, string client) => new CallTests().AFaultCarriesItsText(transport, server, client);

    [BitnessTheory, MemberData(nameof(Callable))]
    public Task ManyCallsInOrder(string transport, string server, string client) => new CallTests().ManyCallsInOrder(transport, server, client);

    [Trait("system", "windows")]
    [BitnessTheory, MemberData(nameof(Calls))]
    public Task AClientKilledInTheMiddleOfACall(string transport, string server, string client) =>
        new CallOnlyTests().ClientKilledInTheMiddleOfACall(transport, server, client);

    [Trait("system", "windows")]
    [BitnessTheory, MemberData(nameof(Calls))]
    public Task AServerKilledInTheMiddleOfACall(string transport, string server, string client) =>
        new CallOnlyTests().ServerKilledInTheMiddleOfACall(transport, server, client);

    [BitnessTheory, MemberData(nameof(WaitingChannels))]
    public Task EveryWayOfWaitingWithEveryOther(string transport, string server, string client) =>
        new WaitTests().EveryWayWithEveryOther(transport, server, client);

    [BitnessTheory, MemberData(nameof(ChannelsByWait))]
    public Task AClientKilledWhileTheServerWaits(string transport, string server, string client, string wait) =>
        new DeathTests().WhileTheServerWaits(transport, server, client, wait);

    [BitnessTheory, MemberData(nameof(ChannelsByWait))]
    public Task AServerKilledWhileTheClientCalls(string transport, string server, string client, string wait) =>
        new DeathTests().WhileTheClientCalls(transport, server, client, wait);

    [BitnessTheory, MemberData(nameof(Pairs))]
    public async Task Queues(string from, string to)
    {
        var tests = new QueueTests();
        await tests.MessagesOutliveTheProcessThatPutThemIn(from, to);
        await tests.AParkedSubscriberIsWokenAndAClosedOneToldSo(from, to);
    }

    [Trait("system", "linux")] // as that test is
    [BitnessTheory, InlineData(ThirtyTwoBits.Side)]
    public Task KilledPublishersOfAQueueLeaveNoGap(string victim) => new QueueTests().KilledPublishersLeaveNoGap(victim);

    [Trait("system", "linux")] // where broadcast is
    [BitnessTheory, MemberData(nameof(Pairs))]
    public async Task Broadcasts(string publishing, string subscribing)
    {
        var tests = new BroadcastTests();
        await tests.WhoIsKilledHoldsNobodyUpAndLeavesNothing(publishing, subscribing);
        await tests.WhatAKilledPublisherPublishedIsRead(publishing, subscribing);
    }

    // A small ring, so that it wraps and both ends wait for each other.
    [BitnessTheory, MemberData(nameof(Pairs))]
    public async Task Rings(string from, string to)
    {
        const int Count = 20_000;
        var address = NewRing();
        using var writer = new PuppetProcess(from);
        using var reader = new PuppetProcess(to);
        await writer.Ok($"open-queue q {address}?blocks=16&block=300 1000");
        await reader.Ok($"open-queue q {address} 1000");
        await reader.Ok("queue-limit q", 300);
        var draining = reader.Give("drain", "drain q", TimeSpan.FromSeconds(60));
        await writer.Ok($"pour q 0 {Count}");
        await writer.Ok($"enqueue q 1 0 0 {Patience}");
        var tally = (await draining).Ok().Trim().Split(':');
        Assert.Equal(["0", Text(Count), Text((long)Count * (Count - 1) / 2)], tally[..3]);

        var taking = reader.Give("taker", "dequeue q 300 5 1 -1");
        await Task.Delay(50);
        await writer.Ok("enqueue q 300 5 1 1000");
        (await taking).Ok(300);
        // Dead in the middle: what it claimed is finished for it by the other.
        var pouring = writer.Give("pour", $"pour q 1 {Count}");
        await Task.Delay(50);
        writer.Kill();
        await Assert.ThrowsAsync<ConformanceException>(() => pouring);
        using var next = new PuppetProcess(from);
        await next.Ok($"open-queue q {address} 1000");
        draining = reader.Give("drain", "drain q", TimeSpan.FromSeconds(60));
        await next.Ok($"enqueue q 1 0 0 {Patience}");
        Assert.StartsWith("1:", (await draining).Ok().Trim(), StringComparison.Ordinal);
        // Puppets are killed at their end, and the last one with them could not.
        await reader.Ok($"remove-queue {address}");
    }

    [BitnessTheory, MemberData(nameof(Pairs))]
    public async Task RingsNewestFirst(string from, string to)
    {
        var address = NewRing();
        using var writer = new PuppetProcess(from);
        using var reader = new PuppetProcess(to);
        await writer.Ok($"open-queue q {address}?blocks=16&block=300&order=lifo 1000");
        await reader.Ok($"open-queue q {address} 1000");
        for (var i = 1; i <= 16; i++)
            await writer.Ok($"enqueue q {i * 10} 5 {i} 1000");
        await writer.Refuses(IpcStatus.TimedOut, "enqueue q 1 5 1 0");
        for (var i = 16; i >= 1; i--)
            await reader.Ok($"dequeue q 300 5 {i} 1000", i * 10);
        await reader.Refuses(IpcStatus.TimedOut, "dequeue q 300 5 1 0");
        await reader.Ok($"remove-queue {address}");
    }

    // What 32 bits cannot count or map is refused in so many words, by the one who cannot, and the other is none the worse.
    [BitnessTheory, InlineData("native"), InlineData("managed")]
    public Task WhatDoesNotFitIntoTheAddressSpace(string server) => Stage.Run("shm", server, ThirtyTwoBits.Side, async stage =>
    {
        foreach (var address in new[] { "shm://big?size=4G", "pipe://big?max=2G", "shm-event://big?max=2G", "queue://big?size=4G", "ring://big?block=4G" })
        {
            var refused = await stage.Client.Refuses(IpcStatus.BadOption, $"listen l {address}");
            Assert.Contains("32-bit process", refused.Text, StringComparison.Ordinal);
        }
        await stage.Listen("size=2G");
        var connecting = stage.Client.Give("connect", $"connect c {Stage.WithOptions(stage.Address, "")} {Patience}");
        await stage.Server.Ok($"accept l c {Patience}");
        Assert.Contains("32-bit process", (await connecting).Refused(IpcStatus.OutOfMemory).Text, StringComparison.Ordinal);
        await stage.Server.Refuses(IpcStatus.PeerClosed, "receive c 100 1 1 5000");
        await stage.Server.Ok("free c");
        await stage.Server.Ok("free l");
        await stage.Open();
        await stage.ExchangeBothWays();
    });

    private static string NewRing() => string.Create(CultureInfo.InvariantCulture,
        $"ring://conformance-32-{Environment.ProcessId}-{Interlocked.Increment(ref s_counter)}");

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
