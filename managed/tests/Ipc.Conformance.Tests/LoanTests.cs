using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Messages, lent: reserve and commit, peek and release.</summary>
public class LoanTests
{
    private static readonly int[] s_sizes = [0, 1, 48, 49, 4097, 65537, 400_000, 3_000_000];

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task EverySizeBothWays(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var (from, to) in new[] { (stage.Client, stage.Server), (stage.Server, stage.Client) })
        {
            foreach (var size in s_sizes)
            {
                await from.Ok($"reserve c {size} {size} 7 1 5000");
                var committing = from.Give("commit", $"commit c {size} 5000");
                await to.Ok("peek c 7 1 5000", size);
                await to.Ok("release c");
                (await committing).Ok();
            }
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task CommitMaySendLessThanWasReserved(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var (room, length) in new[] { (100, 99), (100, 10), (100, 0), (5000, 48), (5000, 49), (800_000, 20), (800_000, 600_000) })
        {
            await stage.Client.Ok($"reserve c {room} {length} 7 1 5000");
            var committing = stage.Client.Give("commit", $"commit c {length} 5000");
            await stage.Server.Ok($"receive c {length} 7 1 5000", length);
            (await committing).Ok();
        }
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ASecondReserveReplacesTheFirst(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await stage.Client.Ok("reserve c 100 100 1 1 5000");
        await stage.Client.Ok("reserve c 50000 50000 2 2 5000");
        await stage.Client.Ok("reserve c 60 60 3 3 5000");
        await stage.Client.Ok("commit c 60 5000");
        await stage.Server.Ok("receive c 1000 3 3 5000", 60);
        await stage.Server.Refuses(IpcStatus.TimedOut, "receive c 1000 3 3 20");
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task CancelGivesTheRoomBackUnsent(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var (from, to) in new[] { (stage.Client, stage.Server), (stage.Server, stage.Client) })
        {
            foreach (var size in new[] { 0, 48, 5000, 800_000 })
            {
                await from.Refuses(IpcStatus.WrongState, "cancel c");
                await from.Ok($"reserve c {size} {size} 1 1 5000");
                await from.Refuses(IpcStatus.WrongState, "send c 10 1 1 5000");
                await from.Refuses(IpcStatus.WrongState, "call c 10 1 1 10 5000");
                await from.Refuses(IpcStatus.WrongState, "commit-reply c 0 5000");
                await from.Ok("cancel c");
                await from.Refuses(IpcStatus.WrongState, "cancel c");
                await from.Refuses(IpcStatus.WrongState, "commit c 0 5000");
                await Stage.Exchange(from, to, 70);
            }
        }
    });

    // Whichever thread was faster, the one that closed or the one that committed: there is no room after a commit that failed.
    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AClosedChannelTakesTheRoomBack(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        foreach (var verb in new[] { "commit c 8 5000", "commit-reply c 8 5000", "reserve c 8 8 1 1 5000", "reserve-reply c 8 8 1 1 5000" })
        {
            await stage.Connect();
            await stage.Client.Ok("reserve c 8 8 1 1 5000");
            await stage.Server.Ok("reserve c 8 8 1 1 5000");
            foreach (var puppet in new[] { stage.Client, stage.Server })
            {
                await puppet.Ok("close c");
                await puppet.Refuses(IpcStatus.Closed, verb);
                await puppet.Refuses(IpcStatus.WrongState, "cancel c");
                await puppet.Refuses(IpcStatus.Closed, "send c 8 1 1 5000");
                await puppet.Ok("free c");
            }
        }
        await stage.Connect();
        await stage.Client.Ok("reserve c 8 8 1 1 5000");
        await stage.Client.Ok("close c");
        await stage.Client.Ok("cancel c");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AReplysRoomIsAReplys(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var size in new[] { 10, 100_000 })
        {
            var calling = stage.Client.Give("calling", $"call c {size} 1 1 {size} 10000");
            var puppet = stage.Server;
            await puppet.Ok("receive-request c 1 1 5000", size);
            await puppet.Ok("reserve c 100 100 9 9 5000");
            await puppet.Refuses(IpcStatus.WrongState, "commit-reply c 100 5000");
            await puppet.Refuses(IpcStatus.WrongState, "reply c 10 1 1 5000");
            await puppet.Ok("cancel c");
            await puppet.Ok("reserve-reply c 100 100 9 9 5000");
            await puppet.Refuses(IpcStatus.WrongState, "commit c 100 5000");
            await puppet.Refuses(IpcStatus.WrongState, "fail-request c 5000 no");
            await puppet.Ok("cancel c");
            await puppet.Refuses(IpcStatus.WrongState, "commit-reply c 100 5000");
            await puppet.Ok($"reserve-reply c {size} {size} 1 1 5000");
            await puppet.Ok($"commit-reply c {size} 5000");
            await puppet.Refuses(IpcStatus.WrongState, "reply c 10 1 1 5000");
            (await calling).Ok(size);
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AKeptReplyIsGivenOnceOrDropped(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        // Small requests: the server is still sending the reply that is kept.
        _ = stage.Server.Give("serve", "serve c script");
        foreach (var size in new[] { 100, 300_000 })
        {
            await stage.Client.Refuses(IpcStatus.WrongState, $"receive-reply c {size} 1 1");
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, $"ask c 10 1 1 5000 reply {size} 1 1");
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, "receive-reply c 20 1 1");
            await stage.Client.Ok($"receive-reply c {size} 1 1", size);
            await stage.Client.Refuses(IpcStatus.WrongState, $"receive-reply c {size} 1 1");
            await stage.Client.Refuses(IpcStatus.BufferTooSmall, $"ask c 10 2 2 5000 reply {size} 2 2");
            await stage.Client.Ok($"ask c {size} 3 3 5000 reply {size} 3 3", size);
            await stage.Client.Refuses(IpcStatus.WrongState, $"receive-reply c {size} 2 2");
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task PeekingAgainGivesTheSameMessage(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var size in new[] { 0, 20, 2000, 200_000 })
        {
            var first = stage.Server.Give("send", $"send c {size} 1 1 5000");
            var second = stage.Server.Give("send", "send c 30 2 2 10000");
            await stage.Client.Ok("peek c 1 1 5000", size);
            await stage.Client.Ok("peek c 1 1 5000", size);
            await stage.Client.Ok("release c");
            await stage.Client.Ok("peek c 2 2 5000", 30);
            await stage.Client.Ok("release c");
            (await first).Ok();
            (await second).Ok();
        }
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task OutOfTurnIsWrongState(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var puppet in new[] { stage.Client, stage.Server })
        {
            await puppet.Refuses(IpcStatus.WrongState, "commit c 10 1000");
            await puppet.Refuses(IpcStatus.WrongState, "release c");
            await puppet.Refuses(IpcStatus.WrongState, "reply c 10 1 1 1000");
            await puppet.Refuses(IpcStatus.WrongState, "reserve-reply c 10 10 1 1 1000");
            await puppet.Refuses(IpcStatus.WrongState, "commit-reply c 10 1000");
            await puppet.Refuses(IpcStatus.WrongState, "fail-request c 1000 no request");
            await puppet.Refuses(IpcStatus.WrongState, "receive-reply c 100 1 1");
        }
        await stage.Client.Ok("send c 10 1 1 5000");
        await stage.Server.Ok("peek c 1 1 5000", 10);
        // A message that is lent out is not given a second time in another way.
        await stage.Server.Refuses(IpcStatus.WrongState, "receive c 10 1 1 1000");
        await stage.Server.Refuses(IpcStatus.WrongState, "receive-request c 1 1 1000");
        await stage.Server.Ok("release c");
        await stage.Server.Refuses(IpcStatus.WrongState, "release c");
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task CommittingMoreThanWasReservedIsRefused(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        await stage.Client.Ok("reserve c 100 100 1 1 5000");
        (await stage.Client.Give("main", "commit c 101 1000")).Refused(IpcStatus.InvalidArgument, IpcStatus.WrongState);
        await stage.Client.Ok("reserve c 20 20 2 2 5000");
        await stage.Client.Ok("commit c 20 5000");
        await stage.Server.Ok("receive c 100 2 2 5000", 20);
    });
}
