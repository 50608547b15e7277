using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Connections that come and go leave no descriptor and no mapping open.</summary>
[Trait("system", "linux")]
public class LeakTests
{
    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ConnectionsLeaveNothingOpen(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        // The first few may open what a runtime then keeps.
        await Connections(stage, 5);
        var before = (stage.Server.Descriptors, stage.Client.Descriptors, Shared(stage.Server), Shared(stage.Client));
        await Connections(stage, 20);
        var after = (stage.Server.Descriptors, stage.Client.Descriptors, Shared(stage.Server), Shared(stage.Client));
        // 20 connections that each leave one thing behind cannot hide within 5.
        if (after.Item1 > before.Item1 + 5 || after.Item2 > before.Item2 + 5 || after.Item3 > before.Item3 + 5 || after.Item4 > before.Item4 + 5)
            throw new ConformanceException($"descriptors and shared mappings of server and client grew from {before} to {after} over 20 connections");
    });

    private static async Task Connections(Stage stage, int count)
    {
        for (var i = 0; i < count; i++)
        {
            await stage.Connect();
            await stage.ExchangeBothWays();
            await stage.Client.Ok("free c");
            await stage.Server.Ok("free c");
            await stage.Client.Refuses(IpcStatus.NoServer, $"connect d {Missing(stage)} 1000");
        }
    }

    // A failed connect must give back what it had begun with, too.
    private static string Missing(Stage stage) =>
        stage.UsesPorts ? $"{stage.Transport}://127.0.0.1:1" : $"{stage.Transport}://{stage.Name}.missing";

    // The runtime maps its own code through a memory file called doublemapper.
    private static int Shared(PuppetProcess puppet) => puppet.Mappings.Split('\n')
        .Count(line => line.Contains("memfd:", StringComparison.Ordinal) && !line.Contains("doublemapper", StringComparison.Ordinal));
}
