using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Requests and replies: sizes, faults, buffers that are too small, one step at a time.</summary>
public class CallTests
{
    private static readonly int[] s_sizes = [0, 1, 47, 48, 49, 64, 1000, 65537, 1 << 20];

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task EverySizeOfReply(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c script");
        foreach (var size in s_sizes)
            await stage.Client.Ok($"ask c {size} 5 9 10000 reply {size} 5 9", size);
        await stage.Client.Ok("ask c 0 5 9 10000 empty", 0);
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task EverySizeOfRequest(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c echo");
        foreach (var size in s_sizes)
        {
            await stage.Client.Ok($"call c {size} 5 9 {size} 10000", size);
            await stage.Client.Ok($"call-in-place c {size} 5 9 10000", size);
            await stage.Client.Ok("release c");
        }
        if (stage.HasChannel)
        {
            const int longest = 16 << 20;
            await stage.Client.Ok($"call-in-place c {longest} 5 9 10000", longest);
            await stage.Client.Ok("release c");
        }
        await stage.Client.Ok("close c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task ManyCallsInOrder(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c echo");
        var count = stage.Many(1000);
        await stage.Client.Ok($"call-many c {count} 3000 11 10000 copy");
        await stage.Client.Ok($"call-many c {count} 3000 11 10000 loan");
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task AFaultCarriesItsText(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c script");
        foreach (var text in new[] { "no row 'Ω' in the table", "x", new string('y', 3000) })
        {
            foreach (var script in new[] { "fail", "reserve-then-fail 0", "reserve-then-fail 100", "reserve-then-fail 100000" })
            {
                var answer = await stage.Client.Refuses(IpcStatus.HandlerFailed, $"ask c 100 1 1 10000 {script} {text}");
                if (!answer.Text.Contains(text[..Math.Min(text.Length, 200)], StringComparison.Ordinal))
                    throw new ConformanceException($"the fault's text is '{answer.Text}', which lacks '{text}'");
            }
            await stage.Client.Ok("ask c 100 1 1 10000 reply 100 1 1", 100);
        }
        await stage.Client.Ok("close c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task AReplyTooLongForTheBufferIsKept(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c script");
        foreach (var size in new[] { 1, 48, 5000, 700_000 })
        {
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, $"ask c {size - 1} 1 1 10000 reply {size} 1 1");
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, $"receive-reply c {size / 2} 1 1");
            await stage.Client.Ok($"receive-reply c {size} 1 1", size);
            // One that nobody fetches is dropped by the next call.
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, $"ask c 0 1 1 10000 reply {size} 1 1");
            await stage.Client.Ok("ask c 100 2 2 10000 reply 100 2 2", 100);
        }
        await stage.Client.Ok("close c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task OneStepAtATime(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var size in new[] { 0, 48, 49, 100_000 })
        {
            var copied = stage.Client.Give("call", $"call c {size} 1 1 {size} 10000");
            await stage.Server.Ok("receive-request c 1 1 5000", size);
            await stage.Server.Ok($"reply c {size} 1 1 5000");
            (await copied).Ok(size);

            var lent = stage.Client.Give("call", $"call c {size} 2 2 {size} 10000");
            await stage.Server.Ok("receive-request c 2 2 5000", size);
            await stage.Server.Ok($"reserve-reply c {size + 50} {size} 2 2 5000");
            await stage.Server.Ok($"commit-reply c {size} 5000");
            (await lent).Ok(size);

            var failed = stage.Client.Give("call", $"call c {size} 3 3 {size} 10000");
            await stage.Server.Ok("receive-request c 3 3 5000", size);
            await stage.Server.Ok("fail-request c 5000 not today");
            (await failed).Refused(IpcStatus.HandlerFailed);
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ALateReplyIsDropped(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        string[] calls = ["call c 300 2 2 300 10000", "call-in-place c 300 2 2 10000"];
        foreach (var call in calls)
        {
            (await stage.Client.Refuses(IpcStatus.TimedOut, "call c 200 1 1 200 60")).NotBefore(60).Promptly();
            await stage.Server.Ok("receive-request c 1 1 5000", 200);
            await stage.Server.Ok("reply c 200 1 1 5000");
            var next = stage.Client.Give("call", call);
            await stage.Server.Ok("receive-request c 2 2 5000", 300);
            await stage.Server.Ok("reply c 300 2 2 5000");
            (await next).Ok(300);
        }
    });

    [Theory, MemberData(nameof(Pairs.Callable), MemberType = typeof(Pairs))]
    public Task ARequestOverTheLimitIsNotSent(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open("max=10000", "max=10000");
        var serving = stage.Server.Give("serve", "serve c script");
        await stage.Client.Refuses(IpcStatus.MessageTooLarge, "call c 10001 1 1 100 5000");
        // A handler that asks for more room than the limit fails its call, not the server.
        (await stage.Client.Give("main", "ask c 100 1 1 5000 reply 10001 1 1")).Refused(IpcStatus.HandlerFailed);
        await stage.Client.Ok("ask c 10000 1 1 5000 reply 10000 1 1", 10_000);
        await stage.Client.Ok("close c");
        (await serving).Ok();
    });
}
