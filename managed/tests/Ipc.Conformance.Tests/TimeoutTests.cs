using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Time-outs come in time and lose nothing.</summary>
public class TimeoutTests
{
    [Theory, MemberData(nameof(Pairs.ChannelsByWait), MemberType = typeof(Pairs))]
    public Task AReceiveThatTimedOutHasLostNothing(string transport, string server, string client, string wait) =>
        Stage.Run(transport, server, client, async stage =>
        {
            var options = wait.Length > 0 ? $"wait={wait}" : "";
            await stage.Open(options, options);
            foreach (var (from, to) in new[] { (stage.Client, stage.Server), (stage.Server, stage.Client) })
            {
                (await to.Refuses(IpcStatus.TimedOut, "receive c 100 1 1 0")).Promptly();
                (await to.Refuses(IpcStatus.TimedOut, "receive c 100 1 1 40")).NotBefore(40).Promptly();
                (await to.Refuses(IpcStatus.TimedOut, "peek c 1 1 1")).NotBefore(1).Promptly();
                await Stage.Exchange(from, to, 100);
            }
        });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ALongMessageSurvivesManyShortTimeouts(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        const int size = 8 << 20;
        await stage.Open();
        foreach (var verb in new[] { $"receive c {size} 1 1", "peek c 1 1" })
        {
            var sending = stage.Client.Give("send", $"send c {size} 1 1 20000");
            Answer answer;
            var tries = 0;
            do
            {
                answer = await stage.Server.Give("main", $"{verb} {tries % 3}");
                if (!answer.IsOk)
                    answer.Refused(IpcStatus.TimedOut);
            }
            while (!answer.IsOk && ++tries < 20_000);
            answer.Ok(size);
            (await sending).Ok();
        }
        await stage.Server.Ok("release c");
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task AcceptTimesOutAndGoesOn(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Listen();
        (await stage.Server.Refuses(IpcStatus.TimedOut, "accept l c 0")).Promptly();
        (await stage.Server.Refuses(IpcStatus.TimedOut, "accept l c 50")).NotBefore(50).Promptly();
        await stage.Connect();
        await stage.ExchangeBothWays();
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ASendCutByItsTimeoutBreaksTheChannel(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        if (stage.HasOneBlock)
        {
            // One block holds a message whole: the second one waits without having begun, and can be sent again.
            await stage.Client.Ok("send c 30000000 1 1 5000");
            (await stage.Client.Refuses(IpcStatus.TimedOut, "send c 30000000 2 2 100")).NotBefore(100);
            await stage.Server.Ok("receive c 30000000 1 1 5000", 30_000_000);
            await Stage.Exchange(stage.Client, stage.Server, 100);
            return;
        }
        (await stage.Client.Refuses(IpcStatus.TimedOut, "send c 30000000 1 1 100")).NotBefore(100).Promptly();
        var again = await stage.Client.Give("main", "send c 10 1 1 100");
        if (again.IsOk)
            throw new ConformanceException("a channel that has cut a message still sends");
        await stage.Client.Ok("free c");
        await stage.Server.Refuses(IpcStatus.Truncated, "receive c 30000000 1 1 5000");
    });

    [Theory, MemberData(nameof(Pairs.Channels), MemberType = typeof(Pairs))]
    public Task ANegativeTimeoutOtherThanForeverIsRefused(string transport, string server, string client) => Stage.Run(transport, server, client, async stage =>
    {
        await stage.Open();
        foreach (var command in new[] { "receive c 10 1 1 -2", "send c 10 1 1 -2", "peek c 1 1 -2", "call c 10 1 1 10 -2", "receive-request c 1 1 -2" })
        {
            await stage.Client.Refuses(IpcStatus.InvalidArgument, command);
            await stage.Server.Refuses(IpcStatus.InvalidArgument, command);
        }
        await stage.Server.Refuses(IpcStatus.InvalidArgument, "accept l d -2");
        await stage.Client.Refuses(IpcStatus.InvalidArgument, $"connect d {stage.Address} -2");
        await stage.ExchangeBothWays();
    });
}
