using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>What goes at once, in the fewest steps: each function of a channel that nanoseconds count for first goes in by its door, does this
/// without a try block, and goes out; only what waits, fails or is unusual takes the long way, a function of its own that begins again.</summary>
/// <remarks>So nothing here may throw: nobody would go out again.</remarks>
internal abstract partial class FramedChannel
{
    // ---- for transports. False, and nothing touched: not at once, or nothing is gained by it.

    /// <summary>As <see cref="SendFrame"/>.</summary>
    protected virtual bool TrySendNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload) => false;

    /// <summary>As <see cref="SendAwaitedFrame"/>.</summary>
    protected virtual bool TrySendAwaitedNow(uint id, ReadOnlySpan<byte> payload) => TrySendNow(FrameKind.Request, id, payload);

    /// <summary>As <see cref="ReserveFrame"/>.</summary>
    protected virtual bool TryReserveNow(int length, out Span<byte> room)
    {
        room = default;
        return false;
    }

    /// <summary>As <see cref="CommitFrame"/>.</summary>
    protected virtual bool TryCommitNow(FrameKind kind, uint id, int length) => false;

    /// <summary>NextFrame and TakeFrame in one if what comes next is a frame of this kind and id that fits into <paramref name="buffer"/>:
    /// within a moment if it is <paramref name="awaited"/>, otherwise at once.</summary>
    protected virtual bool TryTakeNext(FrameKind kind, uint id, bool awaited, Span<byte> buffer, out int length)
    {
        length = 0;
        return false;
    }

    /// <summary>Whether there is nothing that NextFrame would find now, neither a frame nor an end; false where that is not known without a look.</summary>
    protected virtual bool HasNothingNow() => false;

    /// <summary>NextFrame and ViewFrame in one if what comes next is a frame of this kind: within a moment if it is
    /// <paramref name="awaited"/>, otherwise at once.</summary>
    protected virtual bool TryViewNext(FrameKind kind, bool awaited, out ReadOnlySpan<byte> payload, out uint id)
    {
        payload = default;
        id = 0;
        return false;
    }

    /// <summary>As <see cref="ReleaseFrame"/>.</summary>
    protected virtual bool TryReleaseNow() => false;

    /// <summary>As <see cref="AnswerFrame"/>.</summary>
    protected virtual bool TryAnswerNow(FrameKind kind, uint id, ReadOnlySpan<byte> payload) => false;

    /// <summary>As <see cref="CommitAnswer"/>.</summary>
    protected virtual bool TryCommitAnswerNow(uint id, int length) => false;

    // ---- whether it may be tried; the long way says why not

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsGood(int timeoutMilliseconds) => !_stopped && timeoutMilliseconds >= Timeout.Infinite;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MaySend(int length, int timeoutMilliseconds) =>
        IsGood(timeoutMilliseconds) && (uint)length <= (uint)MaxMessageLength && _reserved < 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MayReceive(int timeoutMilliseconds) => IsGood(timeoutMilliseconds) && _holding == Holding.Nothing && !AnyInFlight;

    // ---- the long way

    private const bool Sender = true, Receiver = false;

    /// <summary>Being inside one half of the channel, from beginning to end of a call.</summary>
    private readonly struct Visit : IDisposable
    {
        private readonly FramedChannel _channel;
        private readonly bool _sends;
        private readonly bool _byTheDoor;

        public Visit(FramedChannel channel, bool sends)
        {
            (_channel, _sends) = (channel, sends);
            ref var gate = ref channel._gate;
            _byTheDoor = gate.Enter(ref sends ? ref gate.Doors.Sender : ref gate.Doors.Receiver);
        }

        public void Dispose()
        {
            ref var gate = ref _channel._gate;
            gate.Leave(ref _sends ? ref gate.Doors.Sender : ref gate.Doors.Receiver, _byTheDoor);
        }
    }
}
