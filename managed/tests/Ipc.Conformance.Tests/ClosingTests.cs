using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Closing in order: what the peer sees, and what another thread's blocked call sees.</summary>
public class ClosingTests
{
    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ThePeerReadsEverythingThenTheEnd(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        foreach (var (ending, serverCloses) in new[] { ("close", false), ("free", false), ("close", true), ("free", true) })
        {
            await stage.Connect();
            var (from, to) = serverCloses ? (stage.Server, stage.Client) : (stage.Client, stage.Server);
            // A message the closing end has not read must not cost the other end anything.
            await to.Ok("send c 40 9 9 5000");
            var sent = stage.HasOneBlock ? 1 : 3;
            for (var i = 1; i <= sent; i++)
                await from.Ok($"send c {i * 1000} 7 {i} 5000");
            await from.Ok($"{ending} c");
            for (var i = 1; i <= sent; i++)
                await to.Ok($"receive c 5000 7 {i} 5000", i * 1000);
            (await to.Refuses(IpcStatus.PeerClosed, "receive c 5000 7 1 5000")).Promptly();
            await to.Refuses(IpcStatus.PeerClosed, "receive c 5000 7 1 5000");
            await to.Refuses(IpcStatus.PeerClosed, "peek c 7 1 0");
            if (ending == "close")
                await from.Ok("free c");
            await to.Ok("free c");
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task SendingToAPeerThatHasClosedFails(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await stage.Server.Ok("free c");
        // The system may take the first ones before it learns of the end.
        Answer answer;
        var tries = 0;
        do
        {
            answer = await stage.Client.Give("main", "send c 100 1 1 2000");
        }
        while (answer.IsOk && ++tries < 100);
        answer.Refused(IpcStatus.PeerClosed);
        await stage.Client.Refuses(IpcStatus.PeerClosed, "send c 100 1 1 2000");
        await stage.Client.Refuses(IpcStatus.PeerClosed, "call c 100 1 1 100 2000");
    });

    [Theory, MemberData(nameof(Pairs.ChannelsByWait), MemberType = typeof(Pairs))]
    public Task CloseInterruptsEveryBlockedCall(string transport, string server, string client, string wait) =>
        Stage.Run(transport, server, client, async stage =>
        {
            var options = wait.Length > 0 ? $"wait={wait}" : "";
            await stage.Listen(options);
            foreach (var blocked in new[] { "receive c 10 1 1 -1", "peek c 1 1 -1", "receive-request c 1 1 -1", "call c 10 1 1 10 -1", "serve c echo" })
            {
                foreach (var puppet in new[] { stage.Client, stage.Server })
                {
                    await stage.Connect(options);
                    var call = await puppet.GiveBlocking("blocked", blocked, maySpin: wait == "spin");
                    await Interrupt(puppet, "c", call);
                    await puppet.Refuses(IpcStatus.Closed, "receive c 10 1 1 0");
                    await puppet.Refuses(IpcStatus.Closed, "send c 10 1 1 0");
                    await stage.Client.Ok("free c");
                    await stage.Server.Ok("free c");
                }
            }
            var accepting = await stage.Server.GiveBlocking("blocked", "accept l c -1");
            await Interrupt(stage.Server, "l", accepting);
        });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task CloseInterruptsABlockedSend(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var sending = await BlockedSend(stage);
        await Interrupt(stage.Client, "c", sending);
    });

    // Over iceoryx a sender that waits for room looks every two milliseconds, and is not seen to sleep for longer.
    private static Task<Task<Answer>> BlockedSend(Stage stage) =>
        stage.Client.GiveBlocking("blocked", "send-many c 100 1000000 1 -1 copy", maySpin: stage.Transport == "iceoryx");

    // The peer keeps its handle: over TCP nothing then wakes a sender that waits for room, and on Windows it learns of the end only when the peer gives its
    // handle back (docs/reliability.md).
    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ABlockedSendLearnsThatThePeerHasClosed(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var sending = await BlockedSend(stage);
        await stage.Server.Ok(PuppetSystem.IsWine && transport == "tcp" ? "free c" : "close c");
        (await sending).Refused(IpcStatus.PeerClosed);
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task SeveralAcceptsAreAllInterrupted(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        var accepting = new List<Task<Answer>>();
        for (var i = 0; i < 3; i++)
            accepting.Add(await stage.Server.GiveBlocking($"blocked{i}", $"accept l c{i} -1"));
        await stage.Server.Ok("close l");
        foreach (var answer in await Task.WhenAll(accepting))
            answer.Refused(IpcStatus.Closed).Promptly();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ServeEndsWellWhenTheClientCloses(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c echo");
        await stage.Client.Ok("call c 100 1 1 100 5000", 100);
        await stage.Client.Ok("close c");
        var clock = System.Diagnostics.Stopwatch.StartNew();
        (await serving).Ok();
        if (clock.ElapsedMilliseconds > Answer.PromptMilliseconds)
            throw new ConformanceException($"serve ended only {clock.ElapsedMilliseconds} ms after the client had closed");
    });

    private static async Task Interrupt(PuppetProcess puppet, string name, Task<Answer> call)
    {
        if (call.IsCompleted)
            throw new ConformanceException($"a call that should be blocked answered: {(await call).Word} {(await call).Text}");
        var clock = System.Diagnostics.Stopwatch.StartNew();
        await puppet.Ok($"close {name}");
        (await call).Refused(IpcStatus.Closed);
        if (clock.ElapsedMilliseconds > Answer.PromptMilliseconds)
            throw new ConformanceException($"the blocked call came back only {clock.ElapsedMilliseconds} ms after close");
    }
}
