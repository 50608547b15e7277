using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A listening named pipe: `pipe`, and the handover of shared memory. Only this user may open it (its DACL, which the
/// system enforces), only from this machine. Accept and Close may come from any thread.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe partial class LocalPipeListener : IDisposable
{
    private const uint BufferSize = 64 * 1024;
    // So many clients may come at once without being asked to try again.
    private const int Backlog = 4;

    /// <summary>An instance of the pipe that waits for a client, or has one that nobody has taken yet. The event stays the same:
    /// threads wait on it outside the lock.</summary>
    private sealed class Waiting
    {
        public readonly Win32Handle Event = Win32.CreateEvent();
        public readonly NativeOverlapped* Operation = (NativeOverlapped*)Marshal.AllocHGlobal(sizeof(NativeOverlapped));
        public Win32Handle? Pipe;
        public bool Pending; // the system still writes to the operation
    }

    private readonly PipeName _name;
    private readonly PipeMode _mode;
    private readonly Win32Handle _closing = Win32.CreateEvent();
    private readonly Waiting[] _waiting = new Waiting[Backlog]; // guarded by its own lock, which nobody holds while waiting
    private Win32Handle? _claim;
    private volatile bool _closed;
    private int _accepting; // threads inside Accept, and one while it is not closed: the last one releases the events

    private LocalPipeListener(PipeName name, PipeMode mode)
    {
        _name = name;
        _mode = mode;
        _accepting = 1;
        for (var i = 0; i < Backlog; i++)
            _waiting[i] = new Waiting();
    }

    /// <summary>Takes the name. <see cref="IpcStatus.NameInUse"/> when somebody listens there, or another user's process has it.</summary>
    public static LocalPipeListener Open(PipeName name, PipeMode mode)
    {
        var listener = new LocalPipeListener(name, mode);
        try
        {
            listener.TakeName();
            return listener;
        }
        catch
        {
            listener.Close();
            throw;
        }
    }

    /// <summary>Set once the listener is closed.</summary>
    public bool Closed => _closed;

    private void TakeName()
    {
        _claim = Win32.CreateNamedPipe(_name.Claim, Win32.PIPE_ACCESS_INBOUND | Win32.FILE_FLAG_FIRST_PIPE_INSTANCE,
            Win32.PIPE_TYPE_BYTE | Win32.PIPE_REJECT_REMOTE_CLIENTS, 1, 0, OnlyThisUser.Instance) ?? throw ListenFailed(Win32.LastError);
        // Said before the system says it: some (Wine) let a second first instance be made.
        if (Win32.WaitNamedPipe(_name.Path, 1) != 0)
            throw ListenFailed(Win32.ERROR_PIPE_BUSY);
        var first = MakeInstance(Win32.FILE_FLAG_FIRST_PIPE_INSTANCE);
        // Not the first: connections that outlived their listener are no obstacle, if they are this user's.
        if (first is null && Win32.LastError == Win32.ERROR_ACCESS_DENIED)
            first = MakeInstance(0);
        if (first is null)
            throw ListenFailed(Win32.LastError);
        try
        {
            LocalPipe.CheckOwner(_name, first);
        }
        catch
        {
            first.Dispose();
            throw;
        }
        foreach (var waiting in _waiting)
        {
            WaitForClient(waiting, first ?? MakeInstance(0) ?? throw ListenFailed(Win32.LastError));
            first = null;
        }
    }

    private Win32Handle? MakeInstance(uint first) =>
        Win32.CreateNamedPipe(_name.Path, Win32.PIPE_ACCESS_DUPLEX | Win32.FILE_FLAG_OVERLAPPED | first,
            Win32.PIPE_REJECT_REMOTE_CLIENTS | (_mode == PipeMode.Message
                ? Win32.PIPE_TYPE_MESSAGE | Win32.PIPE_READMODE_MESSAGE
                : Win32.PIPE_TYPE_BYTE | Win32.PIPE_READMODE_BYTE),
            Win32.PIPE_UNLIMITED_INSTANCES, BufferSize, OnlyThisUser.Instance);

    private IpcException ListenFailed(int error) => error is Win32.ERROR_ACCESS_DENIED or Win32.ERROR_PIPE_BUSY
        ? new IpcException(IpcStatus.NameInUse, $"cannot listen at {_name.Address}: another listener has this name; close it or choose another name")
        : Win32.Failure(IpcStatus.System, $"cannot listen at {_name.Address}", error);

    private void WaitForClient(Waiting waiting, Win32Handle pipe)
    {
        waiting.Pipe = pipe;
        *waiting.Operation = new NativeOverlapped { EventHandle = waiting.Event.DangerousGetHandle() };
        _ = Win32.ResetEvent(waiting.Event);
        var error = Win32.ConnectNamedPipe(pipe, waiting.Operation) != 0 ? Win32.ERROR_PIPE_CONNECTED : Win32.LastError;
        waiting.Pending = error == Win32.ERROR_IO_PENDING;
        if (waiting.Pending)
            return;
        _ = Win32.SetEvent(waiting.Event);
        // ERROR_NO_DATA: a client has been here and gone; what it wrote can be read.
        if (error is Win32.ERROR_PIPE_CONNECTED or Win32.ERROR_NO_DATA)
            return;
        waiting.Pipe = null;
        pipe.Dispose();
        throw Win32.Failure(IpcStatus.System, $"cannot wait for clients at {_name.Address}", error);
    }

    /// <summary>The next client, as an overlapped handle; clients that turn out to be another user's are dropped. A client that has
    /// gone again is a connection like any other: what it wrote can be read, then comes the end.</summary>
    public Win32Handle Accept(Deadline deadline)
    {
        Enter();
        try
        {
            var events = stackalloc nint[Backlog + 1];
            events[0] = _closing.DangerousGetHandle();
            for (var i = 0; i < Backlog; i++)
                events[i + 1] = _waiting[i].Event.DangerousGetHandle();
            while (true)
            {
                if (TakeOwnClient() is { } client)
                    return client;
                if (Win32.WaitForAny(events, Backlog + 1, deadline) == Win32.WAIT_TIMEOUT)
                    throw new IpcException(IpcStatus.TimedOut, $"no client came to {_name.Address} within the time-out");
            }
        }
        finally
        {
            Leave();
        }
    }

    private void Enter()
    {
        for (var now = Volatile.Read(ref _accepting); now != 0;)
        {
            var seen = Interlocked.CompareExchange(ref _accepting, now + 1, now);
            if (seen == now)
                return;
            now = seen;
        }
        throw ClosedHere();
    }

    private IpcException ClosedHere() => new(IpcStatus.Closed, $"the listener at {_name.Address} was closed here");

    // The next that has come; null if there is none.
    private Win32Handle? TakeOwnClient()
    {
        while (TakeConnected() is { } client)
        {
            uint process;
            if (Win32.GetNamedPipeClientProcessId(client, &process) == 0 || !LocalPipe.IsForeign(process))
                return client;
            client.Dispose();
        }
        return null;
    }

    // A client that has come, its place given to a new instance; null if there is none.
    private Win32Handle? TakeConnected()
    {
        lock (_waiting)
        {
            if (_closed)
                throw ClosedHere();
            foreach (var waiting in _waiting)
            {
                if (Win32.WaitForSingleObject(waiting.Event, 0) != Win32.WAIT_OBJECT_0)
                    continue;
                uint none;
                if (waiting.Pending && Win32.GetOverlappedResult(waiting.Pipe!, waiting.Operation, &none, 0) == 0)
                {
                    // The system ends what a thread has begun when that thread ends: begin again, unless a client came meanwhile.
                    WaitForClient(waiting, waiting.Pipe!);
                    if (waiting.Pending)
                        continue;
                }
                waiting.Pending = false;
                var taken = waiting.Pipe;
                waiting.Pipe = null;
                WaitForClient(waiting, MakeInstance(0)
                    ?? throw Win32.Failure(IpcStatus.System, $"cannot wait for more clients at {_name.Address}", Win32.LastError));
                if (taken is not null)
                    return taken;
            }
            return null;
        }
    }

    /// <summary>Refuses clients that wait and interrupts Accept. Connections taken before go on; they keep the path in the system, but
    /// not the claim, so that the name can be listened at again.</summary>
    public void Close()
    {
        lock (_waiting)
        {
            if (_closed)
                return;
            _closed = true;
            _ = Win32.SetEvent(_closing);
            _claim?.Dispose();
            foreach (var waiting in _waiting)
                End(waiting);
        }
        Leave();
    }

    private static void End(Waiting waiting)
    {
        uint none;
        // The system must have done with the operation before its memory goes.
        if (waiting.Pending)
        {
            _ = Win32.CancelIoEx(waiting.Pipe!, waiting.Operation);
            _ = Win32.GetOverlappedResult(waiting.Pipe!, waiting.Operation, &none, 1);
        }
        waiting.Pending = false;
        waiting.Pipe?.Dispose();
        waiting.Pipe = null;
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _accepting) != 0)
            return;
        _closing.Dispose();
        foreach (var waiting in _waiting)
        {
            waiting.Event.Dispose();
            Marshal.FreeHGlobal((nint)waiting.Operation);
        }
    }

    public void Dispose() => Close();
}
