using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Security.Cryptography;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>The client's end: sends requests to its session's window, and has answers sent to a window of the thread that waits.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WmCopyDataClient : CallClient
{
    // Waits are cut into slices, between which closing, the server's window and its process are looked at.
    private const int SliceMilliseconds = 50;

    /// <summary>An exchange whose answer its thread waits for. A thread may have several: its other windows may make calls of their own
    /// while it waits.</summary>
    private sealed class Waiting(Guid token, uint number, int limit, ArrivingMessage room, Waiting? outer)
    {
        public readonly Guid Token = token;
        public readonly uint Number = number;
        public readonly int MaxMessageLength = limit;
        public readonly ArrivingMessage Room = room;
        public readonly Waiting? Outer = outer;
        public bool Begun;
        public bool Answered;
        public MessageHead Answer;
    }

    [ThreadStatic]
    private static Waiting? t_innermost;
    [ThreadStatic]
    private static nint t_window; // goes with the thread

    private readonly IpcAddress _address;
    private readonly PeerProcess _process;
    private readonly nint _server; // the window of our session
    private readonly Guid _token;
    private readonly OutgoingMessage _outgoing = new();
    private readonly ArrivingMessage _reply = new();
    private readonly ManualResetEvent _closing = new(false);
    private volatile bool _closed;
    private uint _number;

    public WmCopyDataClient(IpcAddress address, string title, Deadline deadline)
    {
        _address = address;
        (var listener, var owner, _process) = FindListener(title);
        try
        {
            _token = new Guid(RandomNumberGenerator.GetBytes(16));
            _outgoing.Make(MessageHead.Make(MessageHead.Hello, 0, 0, _token, 0), []);
            // The listener's thread does nothing but this. It is asked once: a second hello would be a second connection.
            var patience = deadline.Forever ? INFINITE : (uint)Math.Max(deadline.LeftMilliseconds, 1);
            var sent = _outgoing.Send(WindowOfThisThread, listener, patience, out var session);
            if (sent != OutgoingMessage.Sent.Taken)
                throw sent switch
                {
                    OutgoingMessage.Sent.Refused =>
                        new IpcException(IpcStatus.PeerClosed, $"the server at {address} takes no more clients, or is closing: try again"),
                    OutgoingMessage.Sent.TimedOut =>
                        new IpcException(IpcStatus.TimedOut, $"the server at {address} is there but does not answer within the time-out"),
                    _ => new IpcException(IpcStatus.NoServer, $"nobody listens at {address} any more: start the server first"),
                };
            _server = (nint)session;
            // Not the listener's window: it may have gone already, with a server that wants one client only.
            if (MessageWindow.ProcessOf(_server) != owner)
                throw ServerGone();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    // A window of this title whose process is this user's: others' are passed over, so that nobody can squat the name.
    private (nint Window, uint Owner, PeerProcess Process) FindListener(string title)
    {
        IpcException? refused = null;
        nint found = 0;
        while ((found = FindWindowExW(HWND_MESSAGE, found, MessageWindow.ListenerClass, title)) != 0)
        {
            if (MessageWindow.ProcessOf(found) is var process && process == 0)
                continue;
            try
            {
                return (found, process, new PeerProcess(process, _address));
            }
            catch (IpcException e)
            {
                refused = e.Status == IpcStatus.PeerClosed ? refused : e;
            }
        }
        throw refused ?? new IpcException(IpcStatus.NoServer, $"nobody listens at {_address}: start the server first");
    }

    // This thread's window, at which answers arrive while it waits for them.
    private static nint WindowOfThisThread =>
        t_window != 0 ? t_window : t_window = MessageWindow.Make(MessageWindow.ClientClass, &Procedure, "", default);

    [UnmanagedCallersOnly]
    private static nint Procedure(nint window, uint message, nint from, nint copied)
    {
        // Its making; after that nothing that others send or post may change or end it.
        if (t_window == 0)
            return DefWindowProcW(window, message, from, copied);
        if (message != WM_COPYDATA)
            return 0;
        if (!MessageFragment.TryRead(copied, out var fragment))
            return 0;
        var waiting = t_innermost;
        while (waiting is not null && !(waiting.Token == fragment.Head.Token && waiting.Number == fragment.Head.Number))
            waiting = waiting.Outer;
        // Else the late answer to an exchange that was given up.
        if (waiting is null || waiting.Answered)
            return 1;
        // One that is too long is told of, and not kept.
        var outcome = waiting.Begun ? waiting.Room.GoOn(fragment) : waiting.Room.Begin(fragment, waiting.MaxMessageLength);
        if (outcome == ArrivingMessage.Outcome.Refused)
            return 0;
        waiting.Begun = true;
        if (outcome == ArrivingMessage.Outcome.Complete)
        {
            waiting.Answer = fragment.Head;
            waiting.Answered = true;
        }
        return 1;
    }

    public override CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        var own = WindowOfThisThread;
        var waiting = new Waiting(_token, ++_number, _address.MaxMessageLength, _reply, t_innermost);
        t_innermost = waiting;
        try
        {
            Deliver(own, MessageHead.Make((uint)kind, id, waiting.Number, _token, payload.Length), payload, deadline, waiting);
            AwaitAnswer(own, deadline, waiting);
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            _ = SendNotifyMessageW(_server, WM_APP + 1, (nint)MessageHead.Words(_token).First, (nint)waiting.Number);
            throw;
        }
        finally
        {
            t_innermost = waiting.Outer;
        }
        var answer = waiting.Answer;
        if (answer.Kind == MessageHead.Ended)
            throw ServerGone();
        if ((answer.Kind == MessageHead.Taken) != (kind == FrameKind.Message))
            throw new IpcException(IpcStatus.NotOurProtocol, $"what {_address} answered is not an answer to what it was sent: reconnect");
        return new CallReply { Kind = (FrameKind)answer.Kind, Id = answer.Id, Bytes = _reply.Bytes, Length = answer.Length };
    }

    // Until the server's thread has taken all of it. What was not taken in time is sent again: taken once, it is not taken twice.
    private void Deliver(nint own, MessageHead head, ReadOnlySpan<byte> payload, Deadline deadline, Waiting waiting)
    {
        do
        {
            _outgoing.Make(head, payload);
            while (_outgoing.Send(own, _server, Slice(deadline), out _) is var sent && sent != OutgoingMessage.Sent.Taken)
            {
                if (waiting.Answered)
                    return;
                if (sent == OutgoingMessage.Sent.WindowGone)
                    throw ServerGone();
                if (sent == OutgoingMessage.Sent.Refused)
                    throw new IpcException(IpcStatus.NotOurProtocol, $"the window behind {_address} does not take our messages: reconnect");
                LookAround(deadline, "did not take the message");
            }
            head.Offset += (uint)head.FragmentLength;
        }
        while (head.Offset < head.Length && !waiting.Answered);
    }

    private void AwaitAnswer(nint own, Deadline deadline, Waiting waiting)
    {
        var ends = stackalloc nint[] { _closing.SafeWaitHandle.DangerousGetHandle(), _process.Handle };
        while (!Volatile.Read(ref waiting.Answered))
        {
            _ = MsgWaitForMultipleObjectsEx(2, ends, Slice(deadline), QS_SENDMESSAGE, MWMO_INPUTAVAILABLE);
            // Carries out what was sent to this thread's windows, and takes nothing that was posted.
            Message message;
            _ = PeekMessageW(&message, own, 0, 0, PM_NOREMOVE | PM_QS_SENDMESSAGE);
            if (!Volatile.Read(ref waiting.Answered))
                LookAround(deadline, "did not answer");
        }
    }

    private static uint Slice(Deadline deadline) => (uint)Math.Max(deadline.SliceMilliseconds(SliceMilliseconds), 1);

    // Throws why not to wait on, if there is a reason.
    private void LookAround(Deadline deadline, string what)
    {
        if (_closed)
            throw new IpcException(IpcStatus.Closed, $"the channel to {_address} was closed here");
        if (_process.Ended || MessageWindow.ProcessOf(_server) == 0)
            throw ServerGone();
        if (deadline.Expired)
            throw new IpcException(IpcStatus.TimedOut, $"the server at {_address} {what} within the time-out");
    }

    private IpcException ServerGone() => new(IpcStatus.PeerClosed, $"the server at {_address} has closed or died: reconnect");

    public override void Close()
    {
        _closed = true;
        _closing.Set();
        // Sent, not posted: a server that waits for us takes it too.
        var (first, second) = MessageHead.Words(_token);
        _ = SendNotifyMessageW(_server, WM_APP, (nint)first, (nint)second);
    }

    public override void Dispose()
    {
        _process.Dispose();
        _outgoing.Dispose();
        _reply.Dispose();
        _closing.Dispose();
    }
}
