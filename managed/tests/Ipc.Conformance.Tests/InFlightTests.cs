using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Many calls in flight on one channel: replies in any order, small rings, deaths and closings.</summary>
public class InFlightTests
{
    // Where a time-out would cut a message, whoever submits takes in no replies meanwhile (ipc.h): no more than both ways hold.
    private static int[] Windows(string transport) => transport switch
    {
        "boost-mq" or "iceoryx" or "mailslot" => [1, 2],
        "pipe" when PuppetSystem.Platform == "windows" => [1, 8],
        _ => [1, 8, 64, 256],
    };

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task RepliesOutOfOrder(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve-deferred c 8");
        foreach (var window in Windows(transport))
        {
            // The server waits for 8 at a time, 5 ms if they do not come.
            var count = window < 8 ? 30 : 300;
            var bytes = await stage.Client.Ok($"call-in-flight c {count} {window} 700 {window} 10000");
            if (bytes == "0")
                throw new ConformanceException("nothing was called");
        }
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AServerThatAnswersInOrderNeedNotKnow(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var serving = stage.Server.Give("serve", "serve c echo");
        await stage.Client.Ok($"call-in-flight c 300 {Windows(transport)[^1]} 3000 4 10000");
        await stage.Client.Ok("call-many c 10 300 11 10000 copy");
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    [Theory, MemberData(nameof(SmallRings))]
    public Task SmallRing(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open("size=64k");
        var serving = stage.Server.Give("serve", "serve c echo");
        await stage.Client.Ok("call-in-flight c 200 64 60000 4 20000");
        await stage.Client.Ok("free c");
        (await serving).Ok();
    });

    public static TheoryData<string, string, string> SmallRings()
    {
        var rings = new TheoryData<string, string, string>();
        foreach (var row in Pairs.Channels().Where(row => (string)row[0] == "shm"))
            rings.Add((string)row[0], (string)row[1], (string)row[2]);
        return rings;
    }

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ThePeerIsKilled(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var deferring = stage.Server.Give("serve", "defer-requests c 20 10000");
        await stage.Client.Ok("submit-all c 20 10000");
        (await deferring).Ok();
        stage.Server.Kill();
        await stage.Client.Ok("complete-all c 20 10000", $"{(int)IpcStatus.PeerClosed}:20");
        await stage.Client.Refuses(IpcStatus.PeerClosed, "complete-all c 1 10000");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task TheChannelIsClosed(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        var deferring = stage.Server.Give("serve", "defer-requests c 20 10000");
        await stage.Client.Ok("submit-all c 20 10000");
        (await deferring).Ok();
        var completing = await stage.Client.GiveBlocking("blocked", "complete-all c 20 -1");
        await stage.Client.Ok("close c");
        (await completing).Ok($"{(int)IpcStatus.Closed}:20");
        await stage.Client.Refuses(IpcStatus.Closed, "submit-all c 1 0");
    });
}
