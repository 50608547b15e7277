using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Transports of kind call: what each end learns when the other refuses, closes or dies. What they share with channels is in
/// <see cref="CallTests"/>.</summary>
[Trait("system", "windows")]
public class CallOnlyTests
{
    private const int SoonMilliseconds = 2000;

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ARequestOverTheServersLimitIsRefusedThereAndItServesTheNext(string transport, string server, string client) =>
        Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open("max=10000", "max=100000");
        var serving = stage.Server.Give("serve", "serve c echo");
        (await stage.Client.Give("main", "call c 50000 1 1 50000 5000"))
            .Refused(IpcStatus.PeerClosed, IpcStatus.PeerTooLarge, IpcStatus.NotOurProtocol, IpcStatus.Truncated);
        if ((await serving).IsOk)
            throw new ConformanceException("the server served on as if nothing had come");
        await stage.Connect("max=10000", "d");
        var next = stage.Server.Give("serve", "serve d echo");
        await stage.Client.Ok("call d 5000 1 1 5000 5000", 5000);
        await stage.Client.Ok("free d");
        (await next).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task AListenerMayGoAsSoonAsItHasAccepted(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        // The client may still be on its way out of connect.
        for (var i = 0; i < 10; i++)
        {
            await stage.Listen();
            var accepting = stage.Server.Give("main", "accept l c 10000");
            var leaving = stage.Server.Give("main", "free l");
            await stage.Client.Ok($"connect c {stage.Address} 10000");
            (await accepting).Ok();
            (await leaving).Ok();
            var serving = stage.Server.Give("serve", "serve c echo");
            await stage.Client.Ok("call c 100 5 9 100 10000", 100);
            await stage.Client.Ok("free c");
            (await serving).Ok();
            await stage.Server.Ok("free c");
        }
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task BothEndsMayCloseAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        // Each end takes its half down while the other still tells it that it goes; the next listener follows at once.
        for (var i = 0; i < 12; i++)
        {
            var options = transport == "com" && i % 2 == 1 ? "apartment=sta" : "";
            await stage.Open(options, options);
            var calling = stage.Client.Give("call", "call c 49 1 1 49 10000");
            await stage.Server.Ok("receive-request c 1 1 5000", 49);
            await stage.Server.Ok("reply c 49 1 1 5000");
            (await calling).Ok(49);
            var closing = stage.Server.Give("main", "reset");
            await stage.Client.Ok("reset");
            (await closing).Ok();
        }
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task NobodyListens(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        (await stage.Client.Refuses(IpcStatus.NoServer,
            $"connect c {Stage.WithOptions(stage.UsesPorts ? $"{transport}://127.0.0.1:9" : stage.Address, "")} 5000")).Promptly();
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ATakenNameIsInUse(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        await stage.Client.Refuses(IpcStatus.NameInUse, $"listen m {stage.Address}");
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ServerKilledInTheMiddleOfACall(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var calling = stage.Client.Give("blocked", "call c 100 1 1 100 -1");
        await stage.Server.Ok("receive-request c 1 1 5000", 100);
        await DeathTests.Killed(stage.Server, calling, IpcStatus.PeerClosed);
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ClientKilledInTheMiddleOfACall(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var calling = stage.Client.Give("blocked", "call c 100 1 1 100 -1");
        await stage.Server.Ok("receive-request c 1 1 5000", 100);
        stage.Client.Kill();
        await DeathTests.Ignored(calling);
        // The reply finds nobody, now or at the next wait.
        await stage.Server.Give("main", "reply c 100 1 1 5000");
        (await stage.Server.Refuses(IpcStatus.PeerClosed, "receive-request c 1 1 5000")).Within(SoonMilliseconds);
        var next = PuppetPool.Rent(client);
        await stage.Connect(channel: "d", client: next);
        var serving = stage.Server.Give("serve", "serve d echo");
        await next.Ok("call d 100 1 1 100 5000", 100);
        await next.Ok("reset");
        (await serving).Ok();
        PuppetPool.Return(next);
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task TheNextListenerTakesTheNameOver(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        stage.Server.Kill();
        await stage.Client.Ok($"listen l {stage.Address}");
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ClosingInterruptsACall(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var calling = stage.Client.Give("blocked", "call c 10 1 1 10 -1");
        await stage.Server.Ok("receive-request c 1 1 5000", 10);
        await stage.Client.Ok("close c");
        (await calling).Refused(IpcStatus.Closed);
        await stage.Server.Give("main", "reply c 10 1 1 1000");
        (await stage.Server.Refuses(IpcStatus.PeerClosed, "receive-request c 1 1 5000")).Within(SoonMilliseconds);
    });

    [Theory, MemberData(nameof(Pairs.Calls), MemberType = typeof(Pairs))]
    public Task ACallTimesOut(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        (await stage.Client.Refuses(IpcStatus.TimedOut, "call c 200 1 1 200 60")).NotBefore(60).Promptly();
        // Whether the transport can give up one call and keep the rest differs (docs/wire-formats.md); the next client is served in any case.
        await stage.Client.Ok("free c");
        await stage.Server.Ok("free c");
        await stage.Connect();
        var serving = stage.Server.Give("serve", "serve c echo");
        await stage.Client.Ok("call c 300 2 2 300 10000", 300);
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });
}
