using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Stream transports: what a server can do to a client with bytes the library would never send.</summary>
[Trait("system", "linux")]
public class HostileServerTests
{
    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task RequestsAreNumberedFromOne(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        for (uint id = 1; id <= 3; id++)
        {
            var calling = stage.Client.Give("main", "call c 300 1 1 300 5000");
            var request = RawFrame.Of(RawFrame.Request, id, RawFrame.Payload(300, 1, 1));
            RawFrame.RequireEqual(request, await raw.Receive(request.Length));
            await raw.Send(RawFrame.Of(RawFrame.Reply, id, RawFrame.Payload(300, 1, 1)));
            (await calling).Ok(300);
        }
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnOldReplyIsDropped(string transport, string side) => Answer(transport, side,
        [.. RawFrame.Of(RawFrame.Reply, 0, new byte[3000]), .. RawFrame.Of(RawFrame.Fault, uint.MaxValue, "old"u8),
            .. RawFrame.Of(RawFrame.Reply, 1, RawFrame.Payload(10, 1, 1))],
        (_, answer) => Task.FromResult(answer.Ok()));

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AReplyFromTheFuture(string transport, string side) =>
        AnswerIsRefused(transport, side, RawFrame.Of(RawFrame.Reply, 2, new byte[10]), IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AMessageWhereAReplyIsExpected(string transport, string side) =>
        AnswerIsRefused(transport, side, RawFrame.Of(RawFrame.Message, 0, new byte[10]), IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task ARequestWhereAReplyIsExpected(string transport, string side) =>
        AnswerIsRefused(transport, side, RawFrame.Of(RawFrame.Request, 1, new byte[10]), IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task Garbage(string transport, string side) =>
        AnswerIsRefused(transport, side, [.. Enumerable.Repeat((byte)'G', 100)], IpcStatus.NotOurProtocol);

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AReplyOverTheLimit(string transport, string side) =>
        AnswerIsRefused(transport, side, RawFrame.Header(RawFrame.Magic, 0x8000_0000, RawFrame.Reply, 1), IpcStatus.PeerTooLarge);

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndWithinAReply(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        var calling = stage.Client.Give("main", "call c 10 1 1 5000 5000");
        await raw.Receive(RawFrame.HeaderSize + 10);
        await raw.Send(RawFrame.Of(RawFrame.Reply, 1, new byte[4000])[..2000]);
        raw.Dispose();
        (await calling).Refused(IpcStatus.Truncated);
        await stage.Client.Refuses(IpcStatus.Truncated, "receive c 5000 1 1 5000");
        // A further call may fail where it sends already, and there the peer is simply gone.
        (await stage.Client.Give("main", "call c 10 1 1 5000 5000")).Refused(IpcStatus.Truncated, IpcStatus.PeerClosed);
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEndInsteadOfAReply(string transport, string side) => Meet(transport, side, async (stage, raw) =>
    {
        var calling = stage.Client.Give("main", "call c 10 1 1 5000 5000");
        await raw.Receive(RawFrame.HeaderSize + 10);
        raw.Dispose();
        (await calling).Refused(IpcStatus.PeerClosed).Promptly();
    });

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AFaultThatIsNotText(string transport, string side) =>
        Answer(transport, side, RawFrame.Of(RawFrame.Fault, 1, [0xFF, 0xFE, 0x00, 0x41]),
            (_, answer) => Task.FromResult(answer.Refused(IpcStatus.HandlerFailed)));

    [Theory, MemberData(nameof(Pairs.StreamSides), MemberType = typeof(Pairs))]
    public Task AnEmptyFault(string transport, string side) =>
        Answer(transport, side, RawFrame.Of(RawFrame.Fault, 1, []),
            (_, answer) => Task.FromResult(answer.Refused(IpcStatus.HandlerFailed)));

    private static Task AnswerIsRefused(string transport, string side, byte[] bytes, IpcStatus status,
        [System.Runtime.CompilerServices.CallerMemberName] string test = "") =>
        Answer(transport, side, bytes, async (stage, answer) =>
        {
            answer.Refused(status).Promptly();
            return await stage.Client.Refuses(status, "call c 10 1 1 5000 1000");
        }, test);

    // The client calls; the raw server reads the request and answers with these bytes.
    private static Task Answer<T>(string transport, string side, byte[] bytes, Func<Stage, Answer, Task<T>> check,
        [System.Runtime.CompilerServices.CallerMemberName] string test = "") =>
        Meet(transport, side, async (stage, raw) =>
        {
            var calling = stage.Client.Give("main", "call c 10 1 1 5000 5000");
            await raw.Receive(RawFrame.HeaderSize + 10);
            await raw.Send(bytes);
            await check(stage, await calling);
        }, test);

    private static Task Meet(string transport, string side, Func<Stage, RawConnection, Task> body,
        [System.Runtime.CompilerServices.CallerMemberName] string test = "") =>
        Stage.Run(transport, side, side, async stage =>
        {
            using var listener = new RawListener(transport, stage.Name);
            var connecting = stage.Client.Give("connect", $"connect c {listener.Address} 5000");
            using var raw = await listener.Accept();
            (await connecting).Ok();
            await body(stage, raw);
        }, test);
}
