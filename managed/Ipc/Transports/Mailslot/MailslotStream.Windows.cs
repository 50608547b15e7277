using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The four mailslots of a connection: this end reads In and InReadByPeer, which the peer writes.</summary>
[SupportedOSPlatform("windows")]
internal sealed record MailslotSlots(Slot In, Slot InReadByPeer, SlotWriter Out, SlotWriter OutReadByUs) : IDisposable
{
    public void Dispose()
    {
        In.Dispose();
        InReadByPeer.Dispose();
        Out.Dispose();
        OutReadByUs.Dispose();
    }
}

/// <summary>A stream of bytes in pieces that mailslots carry, docs/wire-formats.md "Mailslots"; owns slots and peer. No more than a window
/// of pieces is unread: a mailslot itself never says that it is full. The peer's end shows by its last message or by its process's end.</summary>
[SupportedOSPlatform("windows")]
internal sealed class MailslotStream(MailslotSlots slots, PeerProcess peer) : ByteStream
{
    // One more than may come: a longer message shows, which not every system refuses.
    private const int RoomSize = MailslotWire.MostInMessage + 1;

    private readonly ManualResetEvent _interrupt = new(false);
    private volatile bool _interrupted;
    private volatile bool _peerEnded;
    private int _interruptStarted;

    // the reader's
    private readonly Lock _telling = new(); // OutReadByUs: the reader, and whoever interrupts
    private readonly byte[] _piece = new byte[RoomSize];
    private ulong _read; // pieces
    private int _pieceBegin;
    private int _pieceEnd;

    // the writer's
    private readonly Lock _writing = new(); // Out and _sent: the writer, and whoever interrupts
    private readonly byte[] _leaving = new byte[MailslotWire.MostInMessage];
    private ulong _sent; // pieces
    private ulong _readByPeer;
    private bool _nobodyReads;

    // ---- the reader

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        var lastLook = false;
        while (_pieceBegin == _pieceEnd)
        {
            if (_peerEnded || _interrupted)
                return 0;
            // A piece goes straight to where it belongs if there is room for it and its trailer.
            var inPlace = buffer.Length >= RoomSize;
            var room = inPlace ? buffer[..RoomSize] : _piece;
            var length = slots.In.Receive(room, lastLook ? 0 : deadline.SliceMilliseconds(Slot.SliceMilliseconds), _interrupt);
            if (length == Slot.Interrupted)
                return 0;
            if (length == Slot.TimedOut)
            {
                if (lastLook)
                    return 0;
                // Once the peer is gone nothing new can come: what is not there at the next look never will be.
                lastLook = peer.Ended;
                if (!lastLook && deadline.Expired)
                    return TimedOut;
                continue;
            }
            var count = ReadPiece(room[..length]);
            if (inPlace)
                return count;
            (_pieceBegin, _pieceEnd) = (0, count);
        }
        var given = Math.Min(buffer.Length, _pieceEnd - _pieceBegin);
        _piece.AsSpan(_pieceBegin, given).CopyTo(buffer);
        _pieceBegin += given;
        return given;
    }

    // Checks what came; 0 for the end and for nothing else.
    private int ReadPiece(ReadOnlySpan<byte> message)
    {
        var count = message.Length - MailslotWire.TrailerLength;
        if (count is < 0 or > MailslotWire.MostInPiece)
            throw Garbage();
        var kind = MailslotWire.ReadTrailer(message[count..], out var number);
        if (number != _read + 1)
            throw Garbage();
        if (kind == MailslotWire.End && count == 0)
        {
            _peerEnded = true;
            return 0;
        }
        if (kind != MailslotWire.Piece || count == 0)
            throw Garbage();
        _read++;
        if (_read % MailslotWire.ToldAfter == 0)
            TellRead();
        return count;
    }

    private void TellRead()
    {
        Span<byte> told = stackalloc byte[MailslotWire.TrailerLength];
        MailslotWire.WriteTrailer(told, MailslotWire.Read, _read);
        lock (_telling)
        {
            // A peer that has gone may still have left pieces to read.
            while (slots.OutReadByUs.Send(told) == Status.TimedOut && !_interrupted && !peer.Ended)
            {
            }
        }
    }

    private static IpcException Garbage() => new(Status.NotOurProtocol,
        "what came through the mailslot is no piece of this connection, or one is missing: connect again");

    // ---- the writer

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        lock (_writing)
        {
            if (WaitForWindow(deadline) is var window && window != Status.Ok)
            {
                _nobodyReads = window != Status.TimedOut;
                return _nobodyReads ? 0 : TimedOut;
            }
            // A mailslot takes one run of bytes.
            var ofHead = Math.Min(head.Length, MailslotWire.MostInPiece);
            var ofBody = Math.Min(body.Length, MailslotWire.MostInPiece - ofHead);
            head[..ofHead].CopyTo(_leaving);
            body[..ofBody].CopyTo(_leaving.AsSpan(ofHead));
            MailslotWire.WriteTrailer(_leaving.AsSpan(ofHead + ofBody), MailslotWire.Piece, _sent + 1);
            while (true)
            {
                var status = slots.Out.Send(_leaving.AsSpan(0, ofHead + ofBody + MailslotWire.TrailerLength));
                if (status == Status.Ok)
                    break;
                if (status == Status.PeerClosed || _interrupted || peer.Ended)
                    return 0;
                if (deadline.Expired)
                    return TimedOut;
            }
            _sent++;
            return ofHead + ofBody;
        }
    }

    private Status WaitForWindow(Deadline deadline)
    {
        while (true)
        {
            if (_interrupted || _peerEnded || _nobodyReads)
                return Status.PeerClosed;
            if (_sent - _readByPeer < MailslotWire.Window)
                return Status.Ok;
            var told = TakeRead(deadline.SliceMilliseconds(Slot.SliceMilliseconds));
            if (told == Status.PeerClosed || (told == Status.TimedOut && peer.Ended))
                return Status.PeerClosed;
            if (told == Status.TimedOut && deadline.Expired)
                return Status.TimedOut;
        }
    }

    // Takes the next message about what the peer has read.
    private Status TakeRead(int patience)
    {
        Span<byte> room = stackalloc byte[MailslotWire.TrailerLength + 1];
        var length = slots.InReadByPeer.Receive(room, patience, _interrupt);
        if (length == Slot.TimedOut)
            return Status.TimedOut;
        if (length == Slot.Interrupted)
            return Status.PeerClosed;
        if (length != MailslotWire.TrailerLength)
            throw Garbage();
        var kind = MailslotWire.ReadTrailer(room, out var number);
        if (kind == MailslotWire.End)
            return Status.PeerClosed;
        if (kind != MailslotWire.Read || number <= _readByPeer || number > _sent)
            throw Garbage();
        _readByPeer = number;
        return Status.Ok;
    }

    // ---- both

    public override void Interrupt()
    {
        if (Interlocked.Exchange(ref _interruptStarted, 1) != 0)
            return;
        _interrupted = true;
        _interrupt.Set();
        // Nobody holds these for longer than a slice now.
        lock (_writing)
            SayEnd(slots.Out, _sent + 1);
        lock (_telling)
            SayEnd(slots.OutReadByUs, 0);
    }

    // There is room for it behind a full window, so that it never waits for the peer.
    private static void SayEnd(SlotWriter to, ulong number)
    {
        Span<byte> end = stackalloc byte[MailslotWire.TrailerLength];
        MailslotWire.WriteTrailer(end, MailslotWire.End, number);
        try
        {
            _ = to.Send(end);
        }
        catch (IpcException)
        {
            // The peer learns of the end from this process's, or from its own next message.
        }
    }

    public override void Dispose()
    {
        Interrupt();
        slots.Dispose();
        peer.Dispose();
        _interrupt.Dispose();
    }
}
