using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Names, listeners and several clients.</summary>
public class ConnectionTests
{
    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task TwoClientsAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        var accepting = new[] { stage.Server.Give("first", "accept l one 10000"), stage.Server.Give("second", "accept l two 10000") };
        var connecting = new[]
        {
            stage.Client.Give("first", $"connect a {stage.Address} 10000"),
            stage.Client.Give("second", $"connect b {stage.Address} 10000"),
        };
        foreach (var answer in await Task.WhenAll([.. accepting, .. connecting]))
            answer.Ok();
        // Which of the two was accepted as which is the system's choice: the first message tells.
        await stage.Client.Ok("send a 100 1 1 5000");
        await stage.Client.Ok("send b 100 2 2 5000");
        var first = await stage.Server.Give("main", "receive one 100 1 1 5000");
        var (ofA, ofB) = first.IsOk ? ("one", "two") : ("two", "one");
        if (first.IsOk)
            await stage.Server.Ok("receive two 100 2 2 5000", 100);
        else
            await stage.Server.Ok("receive two 100 1 1 5000", 100);

        await Task.WhenAll(
            Series(stage, "a", ofA, 5_000), Series(stage, "b", ofB, 90_000));
        await stage.Server.Ok($"free {ofA}");
        await stage.Client.Refuses(IpcStatus.PeerClosed, "receive a 100 1 1 5000");
        await Series(stage, "b", ofB, 7_000);
    });

    private static async Task Series(Stage stage, string channel, string ofServer, int seed)
    {
        var receiving = stage.Server.Give($"receive-{channel}", $"receive-many {ofServer} 500 1000 {seed} 10000 copy");
        (await stage.Client.Give($"send-{channel}", $"send-many {channel} 500 1000 {seed} 10000 copy")).Ok();
        (await receiving).Ok();
    }

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task OneClientAfterAnother(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        for (var i = 0; i < 10; i++)
        {
            await stage.Connect();
            await Stage.Exchange(stage.Client, stage.Server, 100 * i);
            await stage.Client.Ok("free c");
            await stage.Server.Refuses(IpcStatus.PeerClosed, "receive c 100 1 1 5000");
            await stage.Server.Ok("free c");
        }
    });

    // Windows cancels what a thread began when that thread ends, and two who use the channel may notice at once.
    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task TheThreadThatAcceptedMayEndWhileOthersUseTheChannel(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        await stage.Listen();
        for (var round = 0; round < 6; round++)
        {
            // Both wait when the thread ends, or one, or none.
            var lingering = round * 10;
            var connecting = stage.Client.Give("connect", $"connect c {stage.Address} 10000");
            await stage.Server.Ok($"accept-and-end l c 10000 {lingering}");
            (await connecting).Ok();
            var receiving = stage.Server.Give("receive", "receive c 100 7 1 10000");
            var sending = stage.Server.Give("send", "send-many c 100 100000 1 10000 copy");
            await Task.Delay(lingering + 10);
            await stage.Client.Ok("send c 100 7 1 10000");
            (await receiving).Ok(100);
            await stage.Client.Ok("receive-many c 100 100000 1 10000 copy");
            (await sending).Ok();
            await stage.Client.Ok("free c");
            await stage.Server.Ok("free c");
        }
    });

    [Theory, MemberData(nameof(Pairs.CallableSides), MemberType = typeof(Pairs))]
    public Task TheThreadThatAcceptedMayEndBeforeTheChannelServes(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        await stage.Listen();
        var connecting = stage.Client.Give("connect", $"connect c {stage.Address} 10000");
        await stage.Server.Ok("accept-and-end l c 10000 0");
        (await connecting).Ok();
        await Task.Delay(20);
        var serving = stage.Server.Give("serve", "serve c echo");
        await stage.Client.Ok("call-many c 20 1000 1 10000 copy");
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ATakenNameIsInUse(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        (await stage.Client.Refuses(IpcStatus.NameInUse, $"listen l {stage.Address}")).Promptly();
        await stage.Server.Refuses(IpcStatus.NameInUse, $"listen again {stage.Address}");
        await stage.Connect();
        await stage.ExchangeBothWays();
        // Still taken with a client connected.
        await stage.Client.Refuses(IpcStatus.NameInUse, $"listen l {stage.Address}");
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task WithoutAServerConnectFailsAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        // A name nobody has used, or for ports one that was free a moment ago.
        var address = stage.Address;
        if (stage.UsesPorts)
        {
            await stage.Listen();
            await stage.Server.Ok("free l");
            address = stage.Address;
        }
        (await stage.Client.Refuses(IpcStatus.NoServer, $"connect c {address} 10000")).Promptly();
        (await stage.Client.Refuses(IpcStatus.NoServer, $"connect c {address} -1")).Promptly();
        // Windows tells of a port where nobody listens only after a moment, which a time-out of 0 does not wait for.
        var atOnce = await stage.Client.Give("main", $"connect c {address} 0");
        if (PuppetSystem.IsWine && stage.UsesPorts)
            atOnce.Refused(IpcStatus.NoServer, IpcStatus.TimedOut);
        else
            atOnce.Refused(IpcStatus.NoServer);
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AFreedNameIsFreeAtOnce(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await stage.ExchangeBothWays();
        await stage.Server.Ok("free l");
        await stage.Client.Refuses(IpcStatus.NoServer, $"connect d {stage.Address} 2000");
        // The channel outlives its listener, and the name serves another process beside it.
        await stage.ExchangeBothWays();
        await stage.Client.Ok($"listen l {stage.Address}");
        var connecting = stage.Server.Give("connect", $"connect d {stage.Address} 5000");
        await stage.Client.Ok("accept l d 5000");
        (await connecting).Ok();
        await stage.ExchangeBothWays("d");
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ACloseOfTheListenerEndsItsName(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        await stage.Server.Ok("close l");
        await stage.Server.Refuses(IpcStatus.Closed, "accept l c 5000");
        await stage.Client.Refuses(IpcStatus.NoServer, $"connect c {stage.Address} 5000");
        var left = Names.Left(stage.Name);
        if (left.Count > 0)
            throw new ConformanceException($"close left {string.Join(", ", left)}");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ClientsThatVanishWhileConnectingHurtNobody(string transport, string server, string client) =>
        Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        // Not accepted: some transports connect all the same (the system queues), others wait for the server's part.
        for (var i = 0; i < 3; i++)
        {
            var answer = await stage.Client.Give("main", $"connect early{i} {stage.Address} 50");
            if (answer.IsOk)
                await stage.Client.Ok($"free early{i}");
            else
                answer.Refused(IpcStatus.TimedOut).Promptly();
        }
        await stage.ServeAGoodClient();
    });

    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task AnAddressThatIsNoneSaysWhy(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        foreach (var verb in new[] { "listen", "connect" })
        {
            async Task Refuse(IpcStatus status, string address)
            {
                await stage.Server.Refuses(status, verb == "listen" ? $"listen l {address}" : $"connect c {address} 1000");
            }
            await Refuse(IpcStatus.UnknownTransport, "carrier-pigeon://x");
            await Refuse(IpcStatus.BadAddress, stage.Name);
            await Refuse(IpcStatus.BadAddress, $"{transport}://");
            await Refuse(IpcStatus.BadOption, $"{stage.Address}?colour=red");
            await Refuse(IpcStatus.BadOption, $"{stage.Address}?max=some");
            if (!stage.UsesPorts)
            {
                await Refuse(IpcStatus.BadAddress, $"{transport}://../{stage.Name}");
                await Refuse(IpcStatus.BadAddress, $"{transport}://.{stage.Name}");
                await Refuse(IpcStatus.BadAddress, $"{transport}://{new string('n', 81)}");
            }
            foreach (var option in Registry.Transport(transport).Options.Where(option => option.Kind == "choice"))
                await Refuse(IpcStatus.BadOption, $"{stage.Address}?{option.Name}=never");
        }
    });
}
