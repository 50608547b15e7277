namespace Ipc.Peer;

/// <summary>Exchanges over WCF in the shape the scenarios know: calls, and pushes as a message and its confirmation. Everything else is
/// refused: WCF has no such thing.</summary>
internal abstract class CallOnlyChannel : Channel
{
    public override int Limit => int.MaxValue;

    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Forever) => throw Refused();
    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Forever) => throw Refused();
    public override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Forever) => throw Refused();
    public override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Forever) => throw Refused();
    public override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Forever) => throw Refused();
    public override void FailRequest(string text, int timeoutMilliseconds = Forever) => throw Refused();

    public sealed override Span<byte> Reserve(int length, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override void Commit(int length, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override void Cancel() => throw Refused();
    public sealed override ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override void Release() => throw Refused();
    public sealed override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override Span<byte> ReserveReply(int length, int timeoutMilliseconds = Forever) => throw Refused();
    public sealed override void CommitReply(int length, int timeoutMilliseconds = Forever) => throw Refused();

    private static IpcException Refused() => new(Status.WrongState, "transports of kind call carry calls and confirmed messages only");
}
