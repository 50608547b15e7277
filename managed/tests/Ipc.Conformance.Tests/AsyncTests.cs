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
            // A short one goes out by one write; shorter ones only take longer to fill what lies between the two.
            foreach (var size in new[] { 1000, 400_000 })
                all.Add((string)row[0], (string)row[1], (string)row[2], (bool)row[3], size);
        }
        return all;
    }

    /// <summary>Those of both systems over which nobody who waits to receive holds a thread.</summary>
    public static TheoryData<string> WithoutThreads => [.. Pairs.Transports.Select(transport => transport.Id)
        .Where(id => id is "unix" or "pipe" or "tcp" or "shm" or "shm-event")];

    /// <summary>Those in pure .NET whose threads sleep on words of the shared memory.</summary>
    public static TheoryData<string, string, string, bool> PureShared()
    {
        var all = new TheoryData<string, string, string, bool>();
        foreach (var row in Ends())
        {
            if ((string)row[0] is "shm" or "shm-event" && (string)row[1] == "managed")
                all.Add((string)row[0], (string)row[1], (string)row[2], (bool)row[3]);
        }
        return all;
    }

    private static void RequirePrompt(string milliseconds) =>
        Assert.InRange(int.Parse(milliseconds, CultureInfo.InvariantCulture), 0, Answer.PromptMilliseconds);

    private static Task Run(
        string transport, string side, string peer, bool listens, Func<Stage, PuppetProcess, PuppetProcess, Task> body, string options = "") =>
        Stage.Run(transport, listens ? side : peer, listens ? peer : side, async stage =>
        {
            await stage.Open(options, options);
            await (listens ? body(stage, stage.Server, stage.Client) : body(stage, stage.Client, stage.Server));
        });

    /// <summary>Whatever listens and has asynchronous members, with each side as its client.</summary>
    public static TheoryData<string, string, string> Listening()
    {
        var all = new TheoryData<string, string, string>();
        foreach (var row in Pairs.Callable())
        {
            if ((string)row[1] != "native")
                all.Add((string)row[0], (string)row[1], (string)row[2]);
        }
        return all;
    }

    [Theory, MemberData(nameof(Listening))]
    public Task AcceptsThoughCancelledBefore(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        RequirePrompt(await stage.Server.Ok("accept-cancelled l 3 20"));
        for (var i = 0; i < 2; i++)
        {
            // The one waits before the client comes, the other finds it there.
            var accepting = i == 0 ? stage.Server.Give("accept", "accept-async l c0 10000") : null;
            var connecting = stage.Client.Give("connect", $"connect c{i} {stage.Address} 10000");
            await Task.Delay(20);
            (await (accepting ?? stage.Server.Give("accept", "accept-async l c1 10000"))).Ok();
            (await connecting).Ok();
        }
        var waiting = stage.Server.Give("accept", "accept-async l c2 10000");
        await Task.Delay(20);
        await stage.Server.Ok("close l");
        (await waiting).Refused(IpcStatus.Closed);
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

    [Theory, MemberData(nameof(PureShared))]
    public Task ABlockingReceiveAfterACancelledOneIsWoken(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, other) =>
        {
            await asynchronous.Ok("receive-cancelled c 1 20");
            var shortest = TimeSpan.MaxValue;
            for (var i = 0; i < 10; i++)
            {
                var receiving = asynchronous.Give("receive", "receive c 100 7 1 10000");
                await Task.Delay(20);
                await other.Ok("send c 100 7 1 10000");
                var answer = await receiving;
                answer.Ok(100);
                shortest = answer.Elapsed < shortest ? answer.Elapsed : shortest;
            }
            // Who is not woken looks after 200 ms, each time.
            Assert.InRange(shortest.TotalMilliseconds, 0, 190);
        }, "wait=block");

    [Theory, MemberData(nameof(Ends))]
    public Task APeerThatIsKilledEndsAReceive(string transport, string side, string peer, bool listens) =>
        Run(transport, side, peer, listens, async (_, asynchronous, other) =>
        {
            var receiving = asynchronous.Give("receive", "receive-async c 100 7 1 20000");
            await Task.Delay(20);
            await DeathTests.Killed(other, receiving, IpcStatus.PeerClosed);
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
