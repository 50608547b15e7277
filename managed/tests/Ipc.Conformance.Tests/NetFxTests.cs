using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>The sides of runtime netfx, here run by Mono, with each other side: the behaviours of the other classes that differ between runtimes
/// if anything does (fences, waking, interruption, marshalling, deaths). Where the puppet was not built, because Mono is not installed,
/// there is one skipped case that says so.</summary>
[Trait("system", "linux")]
public class NetFxTests
{
    private static readonly string[] s_transports = ["pipe", "unix", "tcp", "shm"];

    private static readonly (string Server, string Client)[] s_pairs =
    [
        ("native", "managed-netfx"), ("managed-netfx", "native"), ("managed-netfx", "managed-netfx"), ("managed", "managed-netfx"),
        ("managed-netfx", "managed"), ("bound-netfx", "managed-netfx"), ("native", "bound-netfx"),
    ];

    private static readonly Dictionary<string, Func<string, string, string, Task>> s_behaviours = new()
    {
        [nameof(CallTests.EverySizeOfReply)] = new CallTests().EverySizeOfReply,
        [nameof(CallTests.EverySizeOfRequest)] = new CallTests().EverySizeOfRequest,
        [nameof(CallTests.ManyCallsInOrder)] = new CallTests().ManyCallsInOrder,
        [nameof(CallTests.AFaultCarriesItsText)] = new CallTests().AFaultCarriesItsText,
        [nameof(CallTests.ALateReplyIsDropped)] = new CallTests().ALateReplyIsDropped,
        [nameof(MessageTests.TheLimitAndOneByteMore)] = new MessageTests().TheLimitAndOneByteMore,
        [nameof(MessageTests.ThousandsOfMessagesInOrderBothWaysAtOnce)] = new MessageTests().ThousandsOfMessagesInOrderBothWaysAtOnce,
        [nameof(MessageTests.LongMessagesInOrderBothWaysAtOnce)] = new MessageTests().LongMessagesInOrderBothWaysAtOnce,
        [nameof(MessageTests.BatchesInOrderBothWaysAtOnce)] = new MessageTests().BatchesInOrderBothWaysAtOnce,
        [nameof(MessageTests.ABufferTooSmallLosesNothing)] = new MessageTests().ABufferTooSmallLosesNothing,
        [nameof(LoanTests.CommitMaySendLessThanWasReserved)] = new LoanTests().CommitMaySendLessThanWasReserved,
        [nameof(ClosingTests.ThePeerReadsEverythingThenTheEnd)] = new ClosingTests().ThePeerReadsEverythingThenTheEnd,
        [nameof(ClosingTests.CloseInterruptsABlockedSend)] = new ClosingTests().CloseInterruptsABlockedSend,
        [nameof(ConnectionTests.WithoutAServerConnectFailsAtOnce)] = new ConnectionTests().WithoutAServerConnectFailsAtOnce,
        [nameof(ConnectionTests.ATakenNameIsInUse)] = new ConnectionTests().ATakenNameIsInUse,
        [nameof(DeathTests.WhatWasSentBeforeIsRead)] = new DeathTests().WhatWasSentBeforeIsRead,
        [nameof(DeathTests.InTheMiddleOfACall)] = new DeathTests().InTheMiddleOfACall,
        [nameof(DeathTests.TheNextListenerTakesTheNameOver)] = new DeathTests().TheNextListenerTakesTheNameOver,
        [nameof(DeathTests.WhileTheServerWaits)] = (transport, server, client) => new DeathTests().WhileTheServerWaits(transport, server, client, ""),
        [nameof(TimeoutTests.AReceiveThatTimedOutHasLostNothing)] =
            (transport, server, client) => new TimeoutTests().AReceiveThatTimedOutHasLostNothing(transport, server, client, ""),
    };

    public static TheoryData<string, string, string, string> Cases()
    {
        var data = new TheoryData<string, string, string, string>();
        foreach (var behaviour in s_behaviours.Keys)
        {
            foreach (var transport in s_transports)
            {
                foreach (var (server, client) in s_pairs)
                    data.Add(behaviour, transport, server, client);
            }
        }
        return data;
    }

    [MonoTheory, MemberData(nameof(Cases))]
    public Task OnMono(string behaviour, string transport, string server, string client) => s_behaviours[behaviour](transport, server, client);

    [MonoTheory, InlineData("spin"), InlineData("adaptive"), InlineData("block")]
    public async Task ManyCallsWithEveryWayToWait(string wait)
    {
        foreach (var (server, client) in s_pairs)
        {
            await Stage.Run("shm", server, client, async stage =>
            {
                await stage.Open($"wait={wait}", $"wait={wait}");
                var serving = stage.Server.Give("serve", "serve c echo");
                await stage.Client.Ok("call-many c 2000 300 11 20000 copy");
                await stage.Client.Ok("free c");
                (await serving).Ok();
            });
        }
    }
}

/// <summary>A theory that needs the puppet which Mono runs.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class MonoTheoryAttribute : TheoryAttribute
{
    public MonoTheoryAttribute()
    {
        if (!File.Exists(PuppetProgram.NetFx))
            Skip = $"{PuppetProgram.NetFx} was not built: install Mono (scripts/bootstrap.sh) and build again";
    }
}
