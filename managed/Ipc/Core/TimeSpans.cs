using System.Diagnostics.CodeAnalysis;

namespace Ipc;

/// <summary>Time-outs as <see cref="TimeSpan"/>, beside milliseconds.</summary>
internal static class TimeSpans
{
    /// <summary>Rounds up, so that no wait is shorter than asked for; what exceeds 24 days is as long as an <see cref="int"/> can say.</summary>
    public static int Milliseconds(TimeSpan timeout)
    {
        if (timeout == Timeout.InfiniteTimeSpan)
            return Timeout.Infinite;
        if (timeout < TimeSpan.Zero)
            throw new IpcException(IpcStatus.InvalidArgument, $"{timeout} is no time-out: give a time of 0 or more, or Timeout.InfiniteTimeSpan");
        return (int)Math.Min(int.MaxValue, Math.Ceiling(timeout.TotalMilliseconds));
    }
}

#pragma warning disable CS1573 // The other parameters are documented where the comments are inherited from.

public abstract partial class IpcChannel
{
    /// <inheritdoc cref="Send(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Send(ReadOnlySpan<byte> message, TimeSpan timeout) => Send(message, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Receive(Span{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int Receive(Span<byte> buffer, TimeSpan timeout) => Receive(buffer, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryReceive(Span{byte}, out int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryReceive(Span<byte> buffer, out int length, TimeSpan timeout) => TryReceive(buffer, out length, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Reserve(int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public Span<byte> Reserve(int length, TimeSpan timeout) => Reserve(length, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Commit(int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Commit(int length, TimeSpan timeout) => Commit(length, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Peek(int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public ReadOnlySpan<byte> Peek(TimeSpan timeout) => Peek(TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryPeek(out ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryPeek(out ReadOnlySpan<byte> message, TimeSpan timeout) => TryPeek(out message, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="SendBatch(ReadOnlySpan{byte}, ReadOnlySpan{int}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int SendBatch(ReadOnlySpan<byte> messages, ReadOnlySpan<int> lengths, TimeSpan timeout) =>
        SendBatch(messages, lengths, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="ReceiveBatch(Span{byte}, Span{int}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int ReceiveBatch(Span<byte> buffer, Span<int> lengths, TimeSpan timeout) => ReceiveBatch(buffer, lengths, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int Call(ReadOnlySpan<byte> request, Span<byte> reply, TimeSpan timeout) => Call(request, reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="ReceiveReply(Span{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int ReceiveReply(Span<byte> reply, TimeSpan timeout) => ReceiveReply(reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="CallInPlace(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public ReadOnlySpan<byte> CallInPlace(ReadOnlySpan<byte> request, TimeSpan timeout) => CallInPlace(request, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="ReceiveRequest(int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public ReadOnlySpan<byte> ReceiveRequest(TimeSpan timeout) => ReceiveRequest(TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Reply(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Reply(ReadOnlySpan<byte> reply, TimeSpan timeout) => Reply(reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="ReserveReply(int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public Span<byte> ReserveReply(int length, TimeSpan timeout) => ReserveReply(length, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="CommitReply(int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void CommitReply(int length, TimeSpan timeout) => CommitReply(length, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="FailRequest(string, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void FailRequest(string text, TimeSpan timeout) => FailRequest(text, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Submit(ReadOnlySpan{byte}, ulong, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Submit(ReadOnlySpan<byte> request, ulong tag, TimeSpan timeout) => Submit(request, tag, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Complete(Span{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public IpcCompletion Complete(Span<byte> reply, TimeSpan timeout) => Complete(reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryComplete(Span{byte}, out IpcCompletion, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryComplete(Span<byte> reply, out IpcCompletion completion, TimeSpan timeout) =>
        TryComplete(reply, out completion, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="ReplyDeferred(ulong, ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void ReplyDeferred(ulong token, ReadOnlySpan<byte> reply, TimeSpan timeout) => ReplyDeferred(token, reply, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="FailDeferred(ulong, string, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void FailDeferred(ulong token, string text, TimeSpan timeout) => FailDeferred(token, text, TimeSpans.Milliseconds(timeout));
}

public abstract partial class IpcListener
{
    /// <inheritdoc cref="Accept(int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public IpcChannel Accept(TimeSpan timeout) => Accept(TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryAccept(out IpcChannel, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryAccept([NotNullWhen(true)] out IpcChannel? channel, TimeSpan timeout) => TryAccept(out channel, TimeSpans.Milliseconds(timeout));
}

public abstract partial class IpcQueue
{
    /// <inheritdoc cref="Enqueue(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Enqueue(ReadOnlySpan<byte> message, TimeSpan timeout) => Enqueue(message, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Dequeue(Span{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int Dequeue(Span<byte> buffer, TimeSpan timeout) => Dequeue(buffer, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryEnqueue(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryEnqueue(ReadOnlySpan<byte> message, TimeSpan timeout) => TryEnqueue(message, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryDequeue(Span{byte}, out int, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryDequeue(Span<byte> buffer, out int length, TimeSpan timeout) => TryDequeue(buffer, out length, TimeSpans.Milliseconds(timeout));
}

public abstract partial class Publisher
{
    /// <inheritdoc cref="Publish(ReadOnlySpan{byte}, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public void Publish(ReadOnlySpan<byte> message, TimeSpan timeout) => Publish(message, TimeSpans.Milliseconds(timeout));
}

public abstract partial class Subscriber
{
    /// <inheritdoc cref="Receive(Span{byte}, out long, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public int Receive(Span<byte> buffer, out long lost, TimeSpan timeout) => Receive(buffer, out lost, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="TryReceive(Span{byte}, out int, out long, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public bool TryReceive(Span<byte> buffer, out int length, out long lost, TimeSpan timeout) =>
        TryReceive(buffer, out length, out lost, TimeSpans.Milliseconds(timeout));
}

public sealed partial class ManagedIpc
{
    /// <inheritdoc cref="Connect(string, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcChannel Connect(string address, TimeSpan timeout) => Connect(address, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="OpenQueue(string, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcQueue OpenQueue(string address, TimeSpan timeout) => OpenQueue(address, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Subscribe(string, int)"/>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static Subscriber Subscribe(string address, TimeSpan timeout) => Subscribe(address, TimeSpans.Milliseconds(timeout));
}

public sealed partial class IpcServer
{
    /// <inheritdoc cref="Stop(int)"/>
    /// <param name="timeout">How long requests in progress may take, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits for all of
    /// them.</param>
    public bool Stop(TimeSpan timeout) => Stop(TimeSpans.Milliseconds(timeout));
}

/// <summary>Time-outs as <see cref="TimeSpan"/> for both implementations of <see cref="IIpc"/>.</summary>
public static class IpcTimeoutExtensions
{
    /// <inheritdoc cref="IIpc.Connect(string, int)"/>
    /// <param name="ipc">The implementation.</param>
    /// <param name="address">The address, as for <see cref="IIpc.Connect(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcChannel Connect(this IIpc ipc, string address, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(ipc);
        return ipc.Connect(address, TimeSpans.Milliseconds(timeout));
    }

    /// <inheritdoc cref="IIpc.OpenQueue(string, int)"/>
    /// <param name="ipc">The implementation.</param>
    /// <param name="address">The address, as for <see cref="IIpc.OpenQueue(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcQueue OpenQueue(this IIpc ipc, string address, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(ipc);
        return ipc.OpenQueue(address, TimeSpans.Milliseconds(timeout));
    }

    /// <inheritdoc cref="IIpc.Subscribe(string, int)"/>
    /// <param name="ipc">The implementation.</param>
    /// <param name="address">The address, as for <see cref="IIpc.Subscribe(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static Subscriber Subscribe(this IIpc ipc, string address, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(ipc);
        return ipc.Subscribe(address, TimeSpans.Milliseconds(timeout));
    }
}
