using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Transports with option wait: the two ends may wait in different ways.</summary>
public class WaitTests
{
    [Theory, MemberData(nameof(Pairs.WaitingChannels), MemberType = typeof(Pairs))]
    public Task EveryWayWithEveryOther(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        var waits = Pairs.Waits(Registry.Transport(transport));
        foreach (var ofServer in waits)
        {
            await stage.Listen($"wait={ofServer}");
            foreach (var ofClient in waits)
            {
                await stage.Connect($"wait={ofClient}");
                await stage.ExchangeBothWays();
                // A pause long enough that whoever may park has parked.
                var receiving = stage.Server.Give("receive", "receive c 100 7 1 10000");
                await Task.Delay(5);
                await stage.Client.Ok("send c 100 7 1 10000");
                (await receiving).Ok(100);
                var serving = stage.Server.Give("serve", "serve c echo");
                await stage.Client.Ok("call-many c 100 3000 11 20000 copy");
                await stage.Client.Ok("call-many c 5 1500000 12 20000 loan");
                await stage.Client.Ok("free c");
                (await serving).Ok();
                await stage.Server.Ok("free c");
            }
            await stage.Server.Ok("free l");
        }
    });

    [Theory, MemberData(nameof(Pairs.WaitingChannels), MemberType = typeof(Pairs))]
    public Task ManyMessagesThroughASmallRing(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        var entry = Registry.Transport(transport);
        var small = entry.Options.Any(option => option.Name == "size") ? "&size=64k" : "";
        foreach (var wait in Pairs.Waits(entry))
        {
            await stage.Open($"wait={wait}{small}", $"wait={wait}");
            var receiving = stage.Server.Give("receive", "receive-many c 300 100000 5 20000 loan");
            (await stage.Client.Give("send", "send-many c 300 100000 5 20000 loan")).Ok();
            (await receiving).Ok();
            await stage.Server.Ok("reset");
            await stage.Client.Ok("reset");
        }
    });
}
