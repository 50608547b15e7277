using System.Runtime.Versioning;
using static Ipc.Win32Com;

namespace Ipc;

/// <summary>The client's end: an object of the server's own for this client, called by a thread of ours.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class ComClient : CallClient
{
    private const int SliceMilliseconds = 50;
    // Who may not wait may still look: the table is asked in any case.
    private const int LeastMilliseconds = 2000;

    /// <summary>The thread that makes a channel's calls, and what it shares with the channel. A call to another process cannot be broken
    /// off everywhere, so whoever gives one up leaves this thread in it; and the caller's own apartment does not matter to it.</summary>
    private sealed class Caller(IpcAddress address)
    {
        // guarded by this object's own lock
        public bool Stopped;       // the channel is closed
        public uint Process;       // the server's
        public SafeArray* Request; // to be sent; the thread takes it
        public bool Busy = true;   // a request is there, or under way; at first: connecting
        public bool GivenUp;       // nobody waits for the answer
        public int Result;         // of the last call
        public Variant Reply;      // and what it gave

        public void Run()
        {
            var entered = CoInitializeEx(0, ComTransport.IsSingleThreaded(address) ? COINIT_APARTMENTTHREADED : COINIT_MULTITHREADED);
            nint session = 0;
            var status = entered < 0 ? entered : Connect(out session);
            lock (this)
            {
                (Result, Busy) = (status, false);
                Monitor.PulseAll(this);
            }
            if (status >= 0)
            {
                while (NextRequest() is var request && request != null)
                    Answer(session, request);
                _ = ComFrames.Call(session, "Close", [], out _);
            }
            Release(session);
            if (entered >= 0)
                CoUninitialize();
            DropReply();
        }

        private SafeArray* NextRequest()
        {
            lock (this)
            {
                while (Request == null && !Stopped)
                    Monitor.Wait(this);
                var request = Request;
                Request = null;
                if (!Stopped)
                    return request;
                if (request != null)
                    _ = SafeArrayDestroy(request);
                return null;
            }
        }

        private void Answer(nint session, SafeArray* request)
        {
            var given = new Variant { Type = VT_ARRAY | VT_UI1, Value = (nint)request };
            var result = ComFrames.Call(session, "Exchange", [given], out var reply);
            _ = SafeArrayDestroy(request);
            lock (this)
            {
                Result = result;
                DropReply();
                if (GivenUp)
                    _ = VariantClear(&reply);
                else
                    Reply = reply;
                Busy = false;
                Monitor.PulseAll(this);
            }
        }

        public void DropReply()
        {
            lock (this)
            {
                fixed (Variant* reply = &Reply)
                    _ = VariantClear(reply);
            }
        }

        private int Connect(out nint session)
        {
            session = 0;
            nint table = 0, found = 0, door = 0;
            var status = ComFrames.MakeMoniker(address, out var moniker);
            if (status >= 0)
                status = GetRunningObjectTable(0, &table);
            if (status >= 0)
            {
                // What the table still has of a process that died is no server.
                status = ((delegate* unmanaged<nint, nint, nint*, int>)Method(table, 6))(table, moniker, &found);
                if (status >= 0)
                    status = found == 0 ? MK_E_UNAVAILABLE : QueryInterface(found, IID_IDispatch, out door);
                Variant process = default;
                if (status >= 0)
                    status = ComFrames.Call(door, "Process", [], out process);
                if (status < 0)
                    status = ComFrames.StatusOf(status) == IpcStatus.PeerClosed ? MK_E_UNAVAILABLE : status;
                else if (process.Type != VT_I4)
                    status = ComFrames.ToResult(IpcStatus.NotOurProtocol);
                else
                    Process = (uint)process.Number;
            }
            if (status >= 0)
            {
                Variant version = default, own = default;
                version.Number = ComFrames.Version;
                own.Number = Environment.ProcessId;
                status = ComFrames.Call(door, "Connect", [version, own], out var made);
                if (status >= 0 && (made.Type != VT_DISPATCH || made.Value == 0))
                {
                    _ = VariantClear(&made);
                    status = ComFrames.ToResult(IpcStatus.NotOurProtocol);
                }
                else if (status >= 0)
                {
                    session = made.Value;
                }
            }
            foreach (var instance in (ReadOnlySpan<nint>)[door, found, table, moniker])
                Release(instance);
            return status;
        }
    }

    private readonly IpcAddress _address;
    private readonly Caller _caller;
    private readonly PeerProcess? _server;

    public ComClient(IpcAddress address, Deadline deadline)
    {
        _address = address;
        _caller = new Caller(address);
        ComTransport.StartThread(_caller.Run, ComTransport.IsSingleThreaded(address), "ipc com client");
        try
        {
            uint process;
            lock (_caller)
            {
                WaitUntilIdle(deadline.Expired ? new Deadline(LeastMilliseconds) : deadline, "did not answer");
                if (_caller.Result == MK_E_UNAVAILABLE)
                    throw new IpcException(IpcStatus.NoServer, $"nobody listens at {address}: start the server first");
                if (_caller.Result < 0)
                    throw ComFrames.ToFailure(_caller.Result, address);
                process = _caller.Process;
            }
            _server = new PeerProcess(process, address);
        }
        catch
        {
            Close();
            throw;
        }
    }

    // Until the thread has done with its call; with the caller locked.
    private void WaitUntilIdle(Deadline deadline, string what)
    {
        while (_caller.Busy && !_caller.Stopped)
        {
            if (deadline.Expired)
                throw new IpcException(IpcStatus.TimedOut, $"the server at {_address} {what} within the time-out");
            if (_server is { Ended: true })
                throw new IpcException(IpcStatus.PeerClosed, $"the server at {_address} has died: reconnect");
            Monitor.Wait(_caller, Math.Max(deadline.SliceMilliseconds(SliceMilliseconds), 1));
        }
        if (_caller.Stopped)
            throw new IpcException(IpcStatus.Closed, $"the channel to {_address} was closed here");
    }

    public override CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        var request = ComFrames.Make(kind, id, payload);
        if (request == null)
            throw new IpcException(IpcStatus.OutOfMemory, $"out of memory for a message of {payload.Length} bytes: send smaller ones");
        lock (_caller)
        {
            try
            {
                // A call that was given up must have ended first; its answer was dropped.
                WaitUntilIdle(deadline, "still answers an earlier call and took no other");
            }
            catch
            {
                _ = SafeArrayDestroy(request);
                throw;
            }
            (_caller.Busy, _caller.GivenUp) = (true, false);
            _caller.Request = request;
            Monitor.PulseAll(_caller);
            try
            {
                WaitUntilIdle(deadline, "did not answer");
            }
            catch
            {
                _caller.GivenUp = true;
                throw;
            }
            if (_caller.Result < 0)
                throw ComFrames.ToFailure(_caller.Result, _address);
            if (kind == FrameKind.Message)
                return default;
            return ComFrames.TryRead(_caller.Reply, out var reply)
                ? reply
                : throw new IpcException(IpcStatus.NotOurProtocol, $"what {_address} answered is not a reply: reconnect");
        }
    }

    public override void DropReply()
    {
        lock (_caller)
        {
            if (!_caller.Busy)
                _caller.DropReply();
        }
    }

    public override void Close()
    {
        lock (_caller)
        {
            _caller.Stopped = true;
            Monitor.PulseAll(_caller);
        }
    }

    public override void Dispose() => _server?.Dispose();
}
