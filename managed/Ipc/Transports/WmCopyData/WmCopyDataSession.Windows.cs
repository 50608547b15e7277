using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>A client at the server: a message-only window with a thread of its own, so that a client whose request waits to be answered
/// holds nobody else up. Both go when the session is closed.</summary>
[SupportedOSPlatform("windows")]
[SuppressMessage("Design", "CA1001", Justification = "What it owns goes with its thread, which nobody else may end.")]
internal sealed unsafe class WmCopyDataSession : IReplySink
{
    // How long an answer is offered to a client's window before a look around; then twice as long, up to the second.
    private const uint FirstPatience = 1000, MostPatience = 16000;

    private readonly CallSession _session;
    private readonly Guid _token;
    private readonly PeerProcess _client;
    private readonly uint _clientProcess;
    private readonly ManualResetEvent _closed = new(false);
    private nint _window;
    private bool _clientLeft;

    // The exchange that waits to be carried out, outside the window's procedure: a client that gave an earlier one up may send
    // the next while that one's answer is on its way. Only the newest counts.
    private bool _pending;
    private MessageHead _head;
    private nint _from;
    private ArrivingMessage _arriving = new();
    private ArrivingMessage _spare = new();
    private uint _newest; // number
    private uint _abandoned;

    // The exchange that is being carried out.
    private uint _number;
    private nint _answerTo;
    private readonly OutgoingMessage _outgoing = new();

    private WmCopyDataSession(CallSession session, Guid token, PeerProcess client, uint process) =>
        (_session, _token, _client, _clientProcess) = (session, token, client, process);

    /// <summary>Starts a session for a client, whose process it then owns. Gives the window, for the client.</summary>
    public static nint Start(CallSession session, Guid token, PeerProcess client, uint process)
    {
        var made = new WmCopyDataSession(session, token, client, process);
        session.WhenClosed = () => made._closed.Set();
        using var opened = new ManualResetEventSlim();
        // Nobody waits for its end, since it may be answering a client that hangs.
        new Thread(() => made.Run(opened)) { IsBackground = true, Name = "ipc wm-copydata session" }.Start();
        opened.Wait();
        return made._window;
    }

    private void Run(ManualResetEventSlim opened)
    {
        var self = GCHandle.Alloc(this);
        try
        {
            _window = MessageWindow.Make(MessageWindow.SessionClass, &Procedure, "", self);
        }
        catch (IpcException)
        {
            // The client is refused.
        }
        finally
        {
            opened.Set();
        }
        if (_window != 0)
            Pump();
        self.Free();
        _client.Dispose();
        _arriving.Dispose();
        _spare.Dispose();
        _outgoing.Dispose();
        // The event stays: the session may still be about to set it.
    }

    private void Pump()
    {
        var ends = stackalloc nint[] { _closed.SafeWaitHandle.DangerousGetHandle(), _client.Handle };
        var toldGone = false;
        while (true)
        {
            // A client that has ended would wake us for ever.
            var woken = MsgWaitForMultipleObjectsEx(toldGone ? 1u : 2u, ends, INFINITE, QS_ALLINPUT, MWMO_INPUTAVAILABLE);
            if (woken is WAIT_OBJECT_0 or WAIT_FAILED)
                break;
            Message message;
            while (PeekMessageW(&message, 0, 0, 0, PM_REMOVE) != 0)
                _ = DispatchMessageW(&message);
            while (_pending)
                CarryOut();
            if (!toldGone && (_clientLeft || _client.Ended))
            {
                _session.ClientGone();
                toldGone = true;
            }
        }
        SetWindowLongPtrW(_window, GWLP_USERDATA, 0);
        _ = DestroyWindow(_window);
    }

    [UnmanagedCallersOnly]
    private static nint Procedure(nint window, uint message, nint first, nint second)
    {
        // Its making and unmaking; in between nothing that others send or post may change or end it.
        if (MessageWindow.Self<WmCopyDataSession>(window) is not { } self)
            return DefWindowProcW(window, message, first, second);
        if (message == WM_COPYDATA)
            return self.Take(first, second);
        var (word, next) = MessageHead.Words(self._token);
        if (message == WM_APP && (uint)first == word && (uint)second == next)
            self._clientLeft = true;
        if (message == WM_APP + 1 && (uint)first == word)
            self._abandoned = (uint)second;
        return 0;
    }

    // Takes in what may be anything and anybody's. 0: refused.
    private nint Take(nint from, nint copied)
    {
        if (!MessageFragment.TryRead(copied, out var fragment))
            return 0;
        var head = fragment.Head;
        if (head.Token != _token || MessageWindow.ProcessOf(from) != _clientProcess || head.Kind is not ((uint)FrameKind.Message or (uint)FrameKind.Request))
            return 0;
        var newer = (int)(head.Number - _newest);
        if (newer < 0)
            return 1; // of an exchange that was given up
        var outcome = newer == 0 ? _arriving.GoOn(fragment) : _arriving.Begin(fragment, _session.MaxMessageLength);
        if (outcome == ArrivingMessage.Outcome.Refused)
            return 0;
        if (outcome == ArrivingMessage.Outcome.Repeated)
            return 1;
        (_newest, _head, _from) = (head.Number, head, from);
        _pending = outcome == ArrivingMessage.Outcome.Complete;
        return 1;
    }

    private void CarryOut()
    {
        _pending = false;
        (_number, _answerTo) = (_head.Number, _from);
        var kind = (FrameKind)_head.Kind;
        // The next one may come in while this one's answer is on its way out.
        var request = _arriving;
        (_arriving, _spare) = (_spare, _arriving);
        var status = _session.Answer(kind, _head.Id, request.Bytes, _head.Length, this);
        if (status != IpcStatus.Ok)
            Answer(MessageHead.Ended, 0, []);
        else if (kind == FrameKind.Message)
            Answer(MessageHead.Taken, 0, []);
    }

    public void Put(FrameKind kind, uint id, ReadOnlySpan<byte> reply) => Answer((uint)kind, id, reply);

    private void Answer(uint kind, uint id, ReadOnlySpan<byte> payload)
    {
        var head = MessageHead.Make(kind, id, _number, _token, payload.Length);
        do
        {
            _outgoing.Make(head, payload);
            for (var patience = FirstPatience; ; patience = Math.Min(2 * patience, MostPatience))
            {
                var sent = _outgoing.Send(_window, _answerTo, patience, out _);
                if (sent == OutgoingMessage.Sent.Taken)
                    break;
                if (sent != OutgoingMessage.Sent.TimedOut || GivenUp)
                    return;
            }
            head.Offset += (uint)head.FragmentLength;
        }
        while (head.Offset < head.Length);
    }

    // Nobody waits for the answer any more.
    private bool GivenUp => _pending || _clientLeft || _abandoned == _number || _client.Ended || _closed.WaitOne(0);
}
