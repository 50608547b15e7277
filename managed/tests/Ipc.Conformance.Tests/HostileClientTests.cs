using System.IO.Pipes;
using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Stream transports: what a client can do to a server with bytes the library would never send.</summary>
[Trait("system", "linux")]
public class HostileClientTests
{
    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task Garbage(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send([.. Enumerable.Repeat((byte)0xEE, 64)]);
        await Broken(stage, IpcStatus.NotOurProtocol, "receive c 100 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndWithoutAByte(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        raw.Dispose();
        await Broken(stage, IpcStatus.PeerClosed, "receive c 100 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndWithinAHeader(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Of(RawFrame.Message, 0, [1])[..7]);
        raw.Dispose();
        await Broken(stage, IpcStatus.Truncated, "receive c 100 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndWithinAPayload(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Header(RawFrame.Magic, 1000, RawFrame.Message, 0), new byte[999]);
        raw.Dispose();
        await Broken(stage, IpcStatus.Truncated, "receive c 1000 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndRightAfterAHeader(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Header(RawFrame.Magic, 1000, RawFrame.Message, 0));
        raw.Dispose();
        await Broken(stage, IpcStatus.Truncated, "peek c 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task ALengthOverTheLimit(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Header(RawFrame.Magic, uint.MaxValue, RawFrame.Message, 0));
        await Broken(stage, IpcStatus.PeerTooLarge, "receive c 1000 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task ALengthWithinTheLimitThatNeverComes(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Header(RawFrame.Magic, 60 << 20, RawFrame.Message, 0), new byte[10]);
        (await stage.Server.Refuses(IpcStatus.TimedOut, $"receive c {60 << 20} 1 1 100")).NotBefore(100).Promptly();
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnUnknownKind(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Of(9, 0, new byte[20]));
        await Broken(stage, IpcStatus.NotOurProtocol, "receive c 100 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task ARequestWhereAMessageIsExpected(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Of(RawFrame.Request, 1, new byte[20]));
        await Broken(stage, IpcStatus.NotOurProtocol, "receive c 100 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AMessageWhereARequestIsExpected(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send(RawFrame.Of(RawFrame.Message, 0, new byte[20]));
        await Broken(stage, IpcStatus.NotOurProtocol, "receive-request c 1 1 2000");
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AByteAtATime(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        var frames = RawFrame.Of(RawFrame.Message, 0, RawFrame.Payload(100, 7, 3))
            .Concat(RawFrame.Of(RawFrame.Message, 0, []))
            .Concat(RawFrame.Of(RawFrame.Message, 0, RawFrame.Payload(5, 7, 4)));
        var receiving = stage.Server.Give("main", "receive c 100 7 3 5000");
        foreach (var one in frames)
            await raw.Send([one]);
        (await receiving).Ok(100);
        await stage.Server.Ok("receive c 100 7 1 5000", 0);
        await stage.Server.Ok("receive c 100 7 4 5000", 5);
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task ManyFramesInOneWrite(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        await raw.Send([.. Enumerable.Range(1, 50).SelectMany(i => RawFrame.Of(RawFrame.Message, 0, RawFrame.Payload(i * 7, 7, (ulong)i)))]);
        for (var i = 1; i <= 50; i++)
            await stage.Server.Ok($"receive c 1000 7 {i} 5000", i * 7);
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task WhatTheServerSendsIsWhatIsWritten(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        foreach (var length in new[] { 0, 1, 48, 1000, 20_000 })
        {
            await stage.Server.Ok($"send c {length} 7 5 5000");
            RawFrame.RequireEqual(RawFrame.Of(RawFrame.Message, 0, RawFrame.Payload(length, 7, 5)), await raw.Receive(RawFrame.HeaderSize + length));
            await raw.Send(RawFrame.Of(RawFrame.Request, 77, RawFrame.Payload(length, 8, 6)));
            await stage.Server.Ok("receive-request c 8 6 5000", length);
            await stage.Server.Ok($"reply c {length} 9 7 5000");
            RawFrame.RequireEqual(RawFrame.Of(RawFrame.Reply, 77, RawFrame.Payload(length, 9, 7)), await raw.Receive(RawFrame.HeaderSize + length));
        }
        await raw.Send(RawFrame.Of(RawFrame.Request, uint.MaxValue, []));
        await stage.Server.Ok("receive-request c 8 6 5000", 0);
        await stage.Server.Ok("fail-request c 5000 déjà vu");
        var text = "déjà vu"u8.ToArray();
        RawFrame.RequireEqual(RawFrame.Of(RawFrame.Fault, uint.MaxValue, text), await raw.Receive(RawFrame.HeaderSize + text.Length));
    });

    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task ManyThatConnectAndGo(string transport, string side) => Stage.Run(transport, side, side, async stage =>
    {
        await stage.Listen();
        for (var i = 0; i < 10; i++)
        {
            var connecting = RawConnection.Connect(transport, stage.Address);
            // A FIFO client needs the server's part to connect at all; the others may go before they are accepted.
            if (transport == "fifo")
                await stage.Server.Ok($"accept l gone{i} 5000");
            (await connecting).Dispose();
        }
        await stage.ServeAGoodClient();
    });

    [Theory, InlineData("native"), InlineData("managed"), InlineData("bound")]
    public Task APlainNamedPipeClientStream(string side) => Stage.Run("pipe", side, side, async stage =>
    {
        await stage.Listen();
        using var pipe = new NamedPipeClientStream(".", stage.Name, PipeDirection.InOut);
        pipe.Connect(5000);
        await stage.Server.Ok("accept l c 5000");
        var serving = stage.Server.Give("serve", "serve c echo");
        var payload = RawFrame.Payload(500, 1, 1);
        pipe.Write(RawFrame.Of(RawFrame.Request, 1, payload));
        var reply = new byte[RawFrame.HeaderSize + payload.Length];
        pipe.ReadExactly(reply);
        RawFrame.RequireEqual(RawFrame.Of(RawFrame.Reply, 1, payload), reply);
        pipe.Dispose();
        (await serving).Ok();
    });

    // A raw client is accepted as `c`; afterwards the listener must still serve a good one.
    private static Task Meet(string transport, string side, Func<Stage, RawConnection, Task> body,
        [System.Runtime.CompilerServices.CallerMemberName] string test = "") =>
        Stage.Run(transport, side, side, async stage =>
        {
            await stage.Listen();
            var connecting = RawConnection.Connect(transport, stage.Address);
            await stage.Server.Ok("accept l c 5000");
            using var raw = await connecting;
            await body(stage, raw);
            await stage.ServeAGoodClient();
        }, test);

    private static async Task Broken(Stage stage, IpcStatus status, string command)
    {
        (await stage.Server.Refuses(status, command)).Promptly();
        // A broken channel repeats its first failure.
        await stage.Server.Refuses(status, command);
        await stage.Server.Refuses(status, "peek c 1 1 100");
    }
}
