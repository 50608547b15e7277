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

/// <summary>A stream of bytes in fragments that mailslots carry, docs/wire-formats.md "Mailslots"; owns slots and peer. No more than a window
/// of fragments is unread: a mailslot itself never says that it is full. The peer's end shows by its last message or by its process's end.</summary>
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
    private readonly byte[] _fragment = new byte[RoomSize];
    private ulong _read; // fragments
    private int _fragmentBegin;
    private int _fragmentEnd;

    // the writer's
    private readonly Lock _writing = new(); // Out and _sent: the writer, and whoever interrupts
    private readonly byte[] _leaving = new byte[MailslotWire.MostInMessage];
    private ulong _sent; // fragments
    private ulong _readByPeer;
    private bool _nobodyReads;

    // ---- the reader

    public override int Receive(Span<byte> buffer, bool all, Deadline deadline)
    {
        var lastLook = false;
        while (_fragmentBegin == _fragmentEnd)
        {
            if (_peerEnded || _interrupted)
                return 0;
            // A fragment goes straight to where it belongs if there is room for it and its trailer.
            var inPlace = buffer.Length >= RoomSize;
            var room = inPlace ? buffer[..RoomSize] : _fragment;
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
            var count = ReadFragment(room[..length]);
            if (inPlace)
                return count;
            (_fragmentBegin, _fragmentEnd) = (0, count);
        }
        var given = Math.Min(buffer.Length, _fragmentEnd - _fragmentBegin);
        _fragment.AsSpan(_fragmentBegin, given).CopyTo(buffer);
        _fragmentBegin += given;
        return given;
    }

    // Checks what came; 0 for the end and for nothing else.
    private int ReadFragment(ReadOnlySpan<byte> message)
    {
        var count = message.Length - MailslotWire.TrailerLength;
        if (count is < 0 or > MailslotWire.MostInFragment)
            throw Garbage();
        var kind = MailslotWire.ReadTrailer(message[count..], out var number);
        if (number != _read + 1)
            throw Garbage();
        if (kind == MailslotWire.End && count == 0)
        {
            _peerEnded = true;
            return 0;
        }
        if (kind != MailslotWire.Fragment || count == 0)
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
            // A peer that has gone may still have left fragments to read.
            while (slots.OutReadByUs.Send(told) == IpcStatus.TimedOut && !_interrupted && !peer.Ended)
            {
            }
        }
    }

    private static IpcException Garbage() => new(IpcStatus.NotOurProtocol,
        "what came through the mailslot is no fragment of this connection, or one is missing: connect again");

    // ---- the writer

    public override int Send(ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, Deadline deadline)
    {
        lock (_writing)
        {
            if (WaitForWindow(deadline) is var window && window != IpcStatus.Ok)
            {
                _nobodyReads = window != IpcStatus.TimedOut;
                return _nobodyReads ? 0 : TimedOut;
            }
            // A mailslot takes one run of bytes.
            var ofHead = Math.Min(head.Length, MailslotWire.MostInFragment);
            var ofBody = Math.Min(body.Length, MailslotWire.MostInFragment - ofHead);
            head[..ofHead].CopyTo(_leaving);
            body[..ofBody].CopyTo(_leaving.AsSpan(ofHead));
            MailslotWire.WriteTrailer(_leaving.AsSpan(ofHead + ofBody), MailslotWire.Fragment, _sent + 1);
            while (true)
            {
                var status = slots.Out.Send(_leaving.AsSpan(0, ofHead + ofBody + MailslotWire.TrailerLength));
                if (status == IpcStatus.Ok)
                    break;
                if (status == IpcStatus.PeerClosed || _interrupted || peer.Ended)
                    return 0;
                if (deadline.Expired)
                    return TimedOut;
            }
            _sent++;
            return ofHead + ofBody;
        }
    }

    private IpcStatus WaitForWindow(Deadline deadline)
    {
        while (true)
        {
            if (_interrupted || _peerEnded || _nobodyReads)
                return IpcStatus.PeerClosed;
            if (_sent - _readByPeer < MailslotWire.Window)
                return IpcStatus.Ok;
            var told = TakeRead(deadline.SliceMilliseconds(Slot.SliceMilliseconds));
            if (told == IpcStatus.PeerClosed || (told == IpcStatus.TimedOut && peer.Ended))
                return IpcStatus.PeerClosed;
            if (told == IpcStatus.TimedOut && deadline.Expired)
                return IpcStatus.TimedOut;
        }
    }

    // Takes the next message about what the peer has read.
    private IpcStatus TakeRead(int patience)
    {
        Span<byte> room = stackalloc byte[MailslotWire.TrailerLength + 1];
        var length = slots.InReadByPeer.Receive(room, patience, _interrupt);
        if (length == Slot.TimedOut)
            return IpcStatus.TimedOut;
        if (length == Slot.Interrupted)
            return IpcStatus.PeerClosed;
        if (length != MailslotWire.TrailerLength)
            throw Garbage();
        var kind = MailslotWire.ReadTrailer(room, out var number);
        if (kind == MailslotWire.End)
            return IpcStatus.PeerClosed;
        if (kind != MailslotWire.Read || number <= _readByPeer || number > _sent)
            throw Garbage();
        _readByPeer = number;
        return IpcStatus.Ok;
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
