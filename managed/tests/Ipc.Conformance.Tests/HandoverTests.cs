using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Transports that hand shared memory over a socket: what either end can do to the other on that socket.</summary>
[Trait("system", "linux")]
public class HandoverTests
{
    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task GarbageFromAClientHarmsNobody(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        await stage.Listen();
        await stage.Connect();
        using (var raw = await RawConnection.Connect(transport, stage.Address))
        {
            await raw.Send(new byte[100]);
            var accepted = await stage.Server.Give("main", "accept l raw 1000");
            await stage.ExchangeBothWays();
            await stage.Connect(channel: "d");
            await stage.ExchangeBothWays("d");
            if (accepted.IsOk)
                (await stage.Server.Give("main", "receive raw 100 1 1 200")).Refused(IpcStatus.TimedOut, IpcStatus.NotOurProtocol, IpcStatus.PeerClosed);
        }
        if ((await stage.Server.Give("main", "limit raw")).IsOk)
            (await stage.Server.Give("main", "receive raw 100 1 1 2000")).Refused(IpcStatus.PeerClosed, IpcStatus.NotOurProtocol);
        await stage.ExchangeBothWays();
        await stage.ExchangeBothWays("d");
    });

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task AServerThatSendsGarbage(string transport, string side) =>
        Refused(transport, side, raw => raw.Send([.. Enumerable.Repeat((byte)0xEE, 16)]), IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task AServerThatHandsNothingOver(string transport, string side) =>
        Refused(transport, side, raw => raw.Send(Greeting(transport, VersionOf(transport))), IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public async Task AServerOfAnotherVersion(string transport, string side)
    {
        foreach (var version in new[] { VersionOf(transport) - 1, VersionOf(transport) + 1 })
        {
            var refused = await Refused(transport, side, raw => raw.Send(Greeting(transport, version)), IpcStatus.NotOurProtocol);
            Assert.Contains($"speaks version {version} of this transport and this process version {VersionOf(transport)}", refused.Text,
                StringComparison.Ordinal);
        }
    }

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task AServerThatEndsTheHandover(string transport, string side) => Refused(transport, side, raw =>
    {
        raw.Dispose();
        return Task.CompletedTask;
    }, IpcStatus.PeerClosed, IpcStatus.NoServer);

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task AServerThatEndsWithinTheHandover(string transport, string side) => Refused(transport, side, async raw =>
    {
        await raw.Send(new byte[5]);
        raw.Dispose();
    }, IpcStatus.PeerClosed, IpcStatus.Truncated, IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.HandoverSides), MemberType = typeof(Pairs))]
    public Task AServerThatSaysNothing(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        using var listener = new RawListener(transport, stage.Name);
        (await stage.Client.Refuses(IpcStatus.TimedOut, $"connect c {listener.Address} 150")).NotBefore(150).Promptly();
    });

    private static uint VersionOf(string transport) => transport == "shm-event" ? 1u : 3u;

    private static byte[] Greeting(string transport, uint version)
    {
        var greeting = new byte[16];
        BinaryPrimitives.WriteUInt32LittleEndian(greeting, 0x53435049);
        BinaryPrimitives.WriteUInt32LittleEndian(greeting.AsSpan(4), version);
        BinaryPrimitives.WriteUInt32LittleEndian(greeting.AsSpan(8), transport == "shm-event" ? 2u : 1u);
        return greeting;
    }

    private static Task<Answer> Refused(string transport, string side, Func<RawConnection, Task> handOver, params IpcStatus[] statuses) =>
        RefusedIn(transport, side, handOver, statuses);

    private static async Task<Answer> RefusedIn(string transport, string side, Func<RawConnection, Task> handOver, IpcStatus[] statuses,
        [CallerMemberName] string test = "")
    {
        Answer? refused = null;
        await Stage.Run(transport, side, side, async stage =>
        {
            using var listener = new RawListener(transport, stage.Name);
            var connecting = stage.Client.Give("connect", $"connect c {listener.Address} 5000");
            using var raw = await listener.Accept();
            await handOver(raw);
            refused = (await connecting).Refused(statuses).Within(2000);
        }, test);
        return refused!;
    }
}
