using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Room lent out to be written in place: reserved, then committed or given back. While it is lent nothing else can be sent,
/// because it lies where the next message goes.</summary>
internal abstract partial class FramedChannel
{
    public sealed override Span<byte> Reserve(int length, int timeoutMilliseconds)
    {
        if (_gate.Doors.Sender.TryEnter())
        {
            var lent = TryLend(length, timeoutMilliseconds, forReply: false, out var room);
            _gate.Doors.Sender.Leave();
            if (lent)
                return room;
        }
        return ReserveOrWait(length, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Span<byte> ReserveOrWait(int length, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Sender);
        return ReserveRoom(length, BeginWithRoom(timeoutMilliseconds), forReply: false);
    }

    public sealed override Span<byte> ReserveReply(int length, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            Span<byte> room = default;
            var lent = _holding == Holding.Request && TryLend(length, timeoutMilliseconds, forReply: true, out room);
            _gate.Doors.Receiver.Leave();
            if (lent)
                return room;
        }
        return ReserveReplyOrWait(length, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Span<byte> ReserveReplyOrWait(int length, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = BeginWithRoom(timeoutMilliseconds);
        CheckRequest(nameof(ReserveReply));
        return ReserveRoom(length, deadline, forReply: true);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryLend(int length, int timeoutMilliseconds, bool forReply, out Span<byte> room)
    {
        room = default;
        if (!IsGood(timeoutMilliseconds) || (uint)length > (uint)MaxMessageLength)
            return false;
        _reserved = Nothing;
        if (!TryReserveNow(length, out room))
            return false;
        (_reserved, _reservedForReply) = (length, forReply);
        return true;
    }

    private Span<byte> ReserveRoom(int length, Deadline deadline, bool forReply)
    {
        // The room before it is gone, also when there is none to be had.
        _reserved = Nothing;
        CheckLength(length);
        var room = ReserveFrame(length, deadline);
        (_reserved, _reservedForReply) = (length, forReply);
        return room;
    }

    public sealed override void Commit(int length, int timeoutMilliseconds)
    {
        if (_gate.Doors.Sender.TryEnter())
        {
            var sent = MayCommit(length, timeoutMilliseconds, forReply: false) && TryCommitNow(FrameKind.Message, 0, length);
            if (sent)
                _reserved = Nothing;
            _gate.Doors.Sender.Leave();
            if (sent)
                return;
        }
        CommitOrWait(length, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CommitOrWait(int length, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Sender);
        var deadline = BeginWithRoom(timeoutMilliseconds);
        CheckCommit(length, forReply: false);
        try
        {
            CommitFrame(FrameKind.Message, 0, length, deadline);
        }
        catch (IpcException e) when (!MayTryAgain(e))
        {
            _reserved = Nothing;
            throw;
        }
        _reserved = Nothing;
    }

    public sealed override void CommitReply(int length, int timeoutMilliseconds)
    {
        if (_gate.Doors.Receiver.TryEnter())
        {
            var sent = _holding == Holding.Request && MayCommit(length, timeoutMilliseconds, forReply: true) &&
                TryCommitAnswerNow(_requestId, length);
            if (sent)
                (_reserved, _holding) = (Nothing, Holding.Nothing);
            _gate.Doors.Receiver.Leave();
            if (sent)
                return;
        }
        CommitReplyOrWait(length, timeoutMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CommitReplyOrWait(int length, int timeoutMilliseconds)
    {
        using var visit = new Visit(this, Receiver);
        var deadline = BeginWithRoom(timeoutMilliseconds);
        CheckRequest(nameof(CommitReply));
        CheckCommit(length, forReply: true);
        try
        {
            CommitAnswer(_requestId, length, deadline);
        }
        catch (IpcException e) when (!MayTryAgain(e))
        {
            AbandonRequest();
            throw;
        }
        _reserved = Nothing;
        _holding = Holding.Nothing;
    }

    // Nothing was sent: the room is still lent, and the request still to be answered.
    private bool MayTryAgain(IpcException failure) => failure.Status == IpcStatus.TimedOut && !_stopped;

    public sealed override void Cancel()
    {
        using var visit = new Visit(this, Sender);
        if (_reserved < 0)
            throw new IpcException(IpcStatus.WrongState, "Cancel without reserved room: it gives back what Reserve or ReserveReply lent");
        _reserved = Nothing;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MayCommit(int length, int timeoutMilliseconds, bool forReply) =>
        IsGood(timeoutMilliseconds) && IsLent(length, forReply);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsLent(int length, bool forReply) => _reserved >= 0 && (uint)length <= (uint)_reserved && _reservedForReply == forReply;

    private void CheckCommit(int length, bool forReply)
    {
        if (!IsLent(length, forReply))
            throw WrongCommit(length, forReply);
    }

    private IpcException WrongCommit(int length, bool forReply)
    {
        var (commit, reserve) = forReply ? (nameof(CommitReply), nameof(ReserveReply)) : (nameof(Commit), nameof(Reserve));
        if (_reserved < 0)
            return new IpcException(IpcStatus.WrongState, $"{commit} without {reserve}: reserve the room first");
        if (_reservedForReply != forReply)
        {
            var (right, lender) = forReply ? (nameof(Commit), nameof(Reserve)) : (nameof(CommitReply), nameof(ReserveReply));
            return new IpcException(IpcStatus.WrongState, $"{commit} of room that {lender} lent: use {right}, or give it back with Cancel");
        }
        return new IpcException(IpcStatus.InvalidArgument, $"{commit} of {length} bytes where {_reserved} were reserved: commit at most those");
    }

    private static IpcException RoomIsLent(string function) =>
        new(IpcStatus.WrongState, $"{function} while reserved room is lent: commit it, or give it back with Cancel");
}
