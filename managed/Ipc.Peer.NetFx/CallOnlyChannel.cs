namespace Ipc.Peer;

/// <summary>Exchanges over WCF in the shape the scenarios know: calls, and pushes as a message and its confirmation. Everything else is
/// refused: WCF has no such thing.</summary>
internal abstract class CallOnlyChannel : IpcChannel
{
    public override int MaxMessageLength => int.MaxValue;

    public override void Send(ReadOnlySpan<byte> message, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public override int Receive(Span<byte> buffer, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public override int Call(ReadOnlySpan<byte> request, Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public override ReadOnlySpan<byte> ReceiveRequest(int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public override void Reply(ReadOnlySpan<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public override void FailRequest(string text, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();

    public sealed override Span<byte> Reserve(int length, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override void Commit(int length, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override void Cancel() => throw Refused();
    public sealed override ReadOnlySpan<byte> Peek(int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override void Release() => throw Refused();
    public sealed override int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override int ReceiveBatch(Span<byte> buffer, Span<int> lengths, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override int ReceiveReply(Span<byte> reply, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override Span<byte> ReserveReply(int length, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();
    public sealed override void CommitReply(int length, int timeoutMilliseconds = Timeout.Infinite) => throw Refused();

    private static IpcException Refused() => new(IpcStatus.WrongState, "transports of kind call carry calls and confirmed messages only");
}
