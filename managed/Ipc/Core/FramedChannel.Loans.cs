using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Room lent out to be written in place: reserved, then committed or given back. While it is lent nothing else can be sent,
/// because it lies where the next message goes.</summary>
internal abstract partial class FramedChannel
{
    public sealed override Span<byte> Reserve(int length, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Sender);
        try
        {
            return ReserveRoom(length, Begin(timeoutMilliseconds), forReply: false);
        }
        finally
        {
            _gate.Leave(Sender, byTheDoor);
        }
    }

    public sealed override Span<byte> ReserveReply(int length, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
            CheckRequest(nameof(ReserveReply));
            return ReserveRoom(length, deadline, forReply: true);
        }
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private Span<byte> ReserveRoom(int length, Deadline deadline, bool forReply)
    {
        CheckLength(length);
        _reserved = Nothing;
        var room = ReserveFrame(length, deadline);
        (_reserved, _reservedForReply) = (length, forReply);
        return room;
    }

    public sealed override void Commit(int length, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Sender);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
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
        finally
        {
            _gate.Leave(Sender, byTheDoor);
        }
    }

    public sealed override void CommitReply(int length, int timeoutMilliseconds)
    {
        var byTheDoor = _gate.Enter(Receiver);
        try
        {
            var deadline = Begin(timeoutMilliseconds);
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
        finally
        {
            _gate.Leave(Receiver, byTheDoor);
        }
    }

    // Nothing was sent: the room is still lent, and the request still to be answered.
    private bool MayTryAgain(IpcException failure) => failure.Status == Status.TimedOut && !_stopped;

    public sealed override void Cancel()
    {
        var byTheDoor = _gate.Enter(Sender);
        try
        {
            if (_reserved < 0)
                throw new IpcException(Status.WrongState, "Cancel without reserved room: it gives back what Reserve or ReserveReply lent");
            _reserved = Nothing;
        }
        finally
        {
            _gate.Leave(Sender, byTheDoor);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CheckCommit(int length, bool forReply)
    {
        if ((uint)length > (uint)_reserved || _reserved < 0 || _reservedForReply != forReply)
            throw WrongCommit(length, forReply);
    }

    private IpcException WrongCommit(int length, bool forReply)
    {
        var (commit, reserve) = forReply ? (nameof(CommitReply), nameof(ReserveReply)) : (nameof(Commit), nameof(Reserve));
        if (_reserved < 0)
            return new IpcException(Status.WrongState, $"{commit} without {reserve}: reserve the room first");
        if (_reservedForReply != forReply)
        {
            var (right, lender) = forReply ? (nameof(Commit), nameof(Reserve)) : (nameof(CommitReply), nameof(ReserveReply));
            return new IpcException(Status.WrongState, $"{commit} of room that {lender} lent: use {right}, or give it back with Cancel");
        }
        return new IpcException(Status.InvalidArgument, $"{commit} of {length} bytes where {_reserved} were reserved: commit at most those");
    }

    private static IpcException RoomIsLent(string function) =>
        new(Status.WrongState, $"{function} while reserved room is lent: commit it, or give it back with Cancel");
}
