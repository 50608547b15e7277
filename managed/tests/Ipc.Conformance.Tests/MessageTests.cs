using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Messages, copied: every size, the limit, order, buffers that are too small.</summary>
public class MessageTests
{
    // Around what the transports treat apart: nothing, a slot's 48 bytes, a cache line, a page, a socket's buffer.
    private static readonly int[] s_sizes =
        [0, 1, 3, 8, 15, 16, 17, 47, 48, 49, 63, 64, 65, 127, 4095, 4096, 4097, 65535, 65536, 65537, 212_992, 524_288, 1_000_003];

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task EverySizeBothWays(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var size in s_sizes)
        {
            await Stage.Exchange(stage.Client, stage.Server, size);
            await Stage.Exchange(stage.Server, stage.Client, size);
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task SixteenMegabytesBothWaysAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await Task.WhenAll(
            Stage.Exchange(stage.Client, stage.Server, 16 << 20),
            Stage.Exchange(stage.Server, stage.Client, 16 << 20));
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task TheLimitAndOneByteMore(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        const int limit = 100_001;
        await stage.Open($"max={limit}", $"max={limit}");
        foreach (var (from, to) in new[] { (stage.Client, stage.Server), (stage.Server, stage.Client) })
        {
            await from.Ok("limit c", limit);
            await Stage.Exchange(from, to, limit);
            (await from.Refuses(IpcStatus.MessageTooLarge, $"send c {limit + 1} 7 1 5000")).Promptly();
            await from.Refuses(IpcStatus.MessageTooLarge, $"reserve c {limit + 1} 0 7 1 5000");
            // Nothing of it was sent: the next message is the next.
            await Stage.Exchange(from, to, 100);
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AMessageOverTheReceiversLimit(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open("max=100000", "max=5000");
        await Stage.Exchange(stage.Server, stage.Client, 5000);
        await stage.Server.Ok("send c 5001 7 1 5000");
        await stage.Client.Refuses(IpcStatus.PeerTooLarge, "receive c 100000 7 1 5000");
        await stage.Client.Refuses(IpcStatus.PeerTooLarge, "receive c 100000 7 1 5000");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ThousandsOfMessagesInOrderBothWaysAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await Many(stage, stage.Many(10_000), 2000, "copy");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task LongMessagesInOrderBothWaysAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await Many(stage, stage.Many(100), 300_000, "copy");
        await Many(stage, stage.Many(100), 300_000, "loan");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task LentMessagesInOrderBothWaysAtOnce(string transport, string server, string client) =>
        Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await Many(stage, stage.Many(2000), 5000, "loan");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task BatchesInOrderBothWaysAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await Many(stage, stage.Many(5000), 100, "", "batches");
        await Many(stage, stage.Many(1000), 5000, "", "batches");
        await Many(stage, 100, 100_000, "", "batches");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task BatchesAndSingleMessagesMix(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var count = stage.Many(2000);
        var sending = stage.Client.Give("send", $"send-batches c {count} 3000 5 20000");
        await stage.Server.Ok($"receive-many c {count} 3000 5 20000 copy");
        (await sending).Ok();
        sending = stage.Client.Give("send", $"send-many c {count} 3000 6 20000 copy");
        await stage.Server.Ok($"receive-batches c {count} 3000 6 20000");
        (await sending).Ok();
        await stage.Server.Refuses(IpcStatus.TimedOut, "receive-batches c 1 3000 7 0");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ABufferTooSmallLosesNothing(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var (from, to) in new[] { (stage.Client, stage.Server), (stage.Server, stage.Client) })
        {
            foreach (var size in new[] { 1, 48, 49, 70_000 })
            {
                var sending = from.Give("send", $"send c {size} 7 1 5000");
                await to.Refuses(IpcStatus.BufferTooSmall, $"receive c {size - 1} 7 1 5000");
                await to.Refuses(IpcStatus.BufferTooSmall, $"receive c 0 7 1 5000");
                await to.Ok($"receive c {size} 7 1 5000", size);
                (await sending).Ok();

                sending = from.Give("send", $"send c {size} 7 2 5000");
                await to.Refuses(IpcStatus.BufferTooSmall, $"receive c {size - 1} 7 2 5000");
                await to.Ok("peek c 7 2 5000", size);
                await to.Ok("release c");
                (await sending).Ok();
            }
            await Stage.Exchange(from, to, 10, sequence: 3);
        }
    });

    // Four series at once: each end sends and receives at the same time, on threads of their own.
    private static async Task Many(Stage stage, int count, int most, string mode, string how = "many")
    {
        Task<Answer> Give(PuppetProcess puppet, string verb, int seed) =>
            puppet.Give(verb, $"{verb} c {count} {most} {seed} 20000 {mode}".TrimEnd());
        var answers = await Task.WhenAll(
            Give(stage.Server, $"receive-{how}", 1000), Give(stage.Client, $"receive-{how}", 2_000_000),
            Give(stage.Client, $"send-{how}", 1000), Give(stage.Server, $"send-{how}", 2_000_000));
        foreach (var answer in answers)
            answer.Ok();
    }
}
