using System.Globalization;
using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>The asynchronous members of C#, pure and over the C ABI, with every side at the other end and on both systems.</summary>
public class AsyncTests
{
    private static readonly int[] s_sizes = [0, 1, 1000, 70_000, 400_000];

    /// <summary>Transport, the side that is asynchronous, the side of its peer, and which of them listens.</summary>
    public static TheoryData<string, string, string, bool> Ends()
    {
        var all = new TheoryData<string, string, string, bool>();
        foreach (var row in Pairs.Channels())
        {
            var (transport, server, client) = ((string)row[0], (string)row[1], (string)row[2]);
            if (server != "native")
                all.Add(transport, server, client, true);
            if (client != "native")
                all.Add(transport, client, server, false);
        }
        return all;
    }

    /// <summary>The same of those in pure .NET, with the size of a message. Over the C ABI sending blocks until the peer takes it or somebody closes.</summary>
    public static TheoryData<string, string, string, bool, int> PureEnds()
    {
        var all = new TheoryData<string, string, string, bool, int>();
        foreach (var row in Ends())
        {
            if ((string)row[1] != "managed")
                continue;
            foreach (var size in new[] { 100, 400_000 })
                all.Add((string)row[0], (string)row[1], (string)row[2], (bool)row[3], size);
        }
        return all;
    }

    /// <summary>Those of both systems over which nobody who waits to receive holds a thread.</summary>
    public static TheoryData<string> WithoutThreads => [.. Pairs.Transports.Select(transport => transport.Id).Where(id => id is "unix" or "pipe" or "tcp")];

    private static void RequirePrompt(string milliseconds) =>
        Assert.InRange(int.Parse(milliseconds, CultureInfo.InvariantCulture), 0, Answer.PromptMilliseconds);

    private static Task Run(string transport, string side, string peer, bool listens, Func<Stage, PuppetProcess, PuppetProcess, Task> body) =>
        Stage.Run(transport, listens ? side : peer, listens ? peer : side, async stage =>
        {
            await stage.Open();
            await (listens ? body(stage, stage.Server, stage.Client) : body(stage, stage.Client, stage.Server));
        });

    [Theory, MemberData(nameof(Ends))]
    public Task EverySizeBothWays(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, other) =>
        {
            foreach (var size in s_sizes)
            {
                var sending = asynchronous.Give("send", $"send-async c {size} 7 1 10000");
                await other.Ok($"receive c {size} 7 1 10000", size);
                (await sending).Ok();
                var receiving = asynchronous.Give("receive", $"receive-async c {size} 7 2 10000");
                await other.Ok($"send c {size} 7 2 10000");
                (await receiving).Ok(size);
            }
        });

    [Theory, MemberData(nameof(Ends))]
    public Task ACancelledReceiveLeavesTheChannelAsItWas(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (stage, asynchronous, _) =>
        {
            RequirePrompt(await asynchronous.Ok("receive-cancelled c 3 20"));
            await stage.ExchangeBothWays();
        });

    [Theory, MemberData(nameof(PureEnds))]
    public Task ACancelledSendEnds(string transport, string side, string peer, bool listens, int size) =>
        Run(transport, side, peer, listens, async (_, asynchronous, _) =>
        {
            RequirePrompt(await asynchronous.Ok($"send-cancelled c {size} 200"));
        });

    [Theory, MemberData(nameof(WithoutThreads))]
    public Task ManyChannelsWaitWithoutThreads(string transport) =>
        Stage.Run(transport, "managed", "managed", async stage =>
        {
            // Windows: .NET's own, one for each 63. A few more come and go with the pool.
            var threads = int.Parse(await stage.Server.Ok($"wait-many {stage.Address} 100"), CultureInfo.InvariantCulture);
            Assert.InRange(threads, -20, 20);
        });

    [Theory, MemberData(nameof(Ends))]
    public Task ClosingEndsAReceive(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, _) =>
        {
            var receiving = asynchronous.Give("receive", "receive-async c 100 7 1 20000");
            await Task.Delay(20);
            await asynchronous.Ok("close c");
            (await receiving).Refused(IpcStatus.Closed);
        });

    [Theory, MemberData(nameof(Ends))]
    public Task CallsManyAtOnce(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, other) =>
        {
            var serving = other.Give("serve", "serve c echo");
            await asynchronous.Ok("call-async c 200 8 3000 7 20000");
            await asynchronous.Ok("close c");
            (await serving).Ok();
        });

    [Theory, MemberData(nameof(Ends))]
    public Task ServesManyAtOnce(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, other) =>
        {
            var serving = asynchronous.Give("serve", "serve-async c 8");
            await other.Ok("call-in-flight c 200 8 3000 7 20000");
            await other.Ok("close c");
            (await serving).Ok();
        });
}
