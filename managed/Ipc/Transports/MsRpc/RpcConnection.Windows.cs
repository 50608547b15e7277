using System.Buffers.Binary;
using System.ComponentModel;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>
/// The connection of one client and the thread that makes its calls, one after another. A synchronous call of rpcrt4 cannot be left
/// before its time on every runtime without losing the connection, and with it the server's session; so whoever waits leaves, and the
/// thread waits on: a late reply is dropped there. The thread ends when the client closes and no call is under way.
/// Twin of native/src/msrpc/connection_win32.cpp.
/// </summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class RpcConnection(RpcHandshake handshake, IpcAddress address, RpcSequence sequence)
{
    private enum Phase { Idle, Asked, Copying, Calling, Done }

    private const FrameKind OpenSessionJob = 0;
    // Wine makes two associations of one when two first connections are made at once, and a session belongs to one of them.
    private static readonly object[] s_openingOne = [.. Enumerable.Range(0, 64).Select(_ => new object())];

    private readonly object _lock = new();
    private Phase _phase;
    private FrameKind _kind;
    private uint _id;
    private byte* _bytes; // pinned while the phase is Asked or Copying
    private int _length;
    private ulong _number;   // of the job, in the order of asking
    private bool _abandoned; // nobody waits for the job under way
    private bool _closed;
    private IpcException? _failure; // of the job that is done
    private CallReply _reply;
    private volatile bool _replyDropped;

    // the thread's own
    private readonly RpcCall _request = new(); // holds the reply's memory until the next request
    private readonly RpcCall _message = new();
    private readonly byte[] _token = new byte[RpcCall.TokenSize];
    private readonly byte[] _context = new byte[RpcCall.ContextSize];
    private nint _binding;
    private bool _sessionOpen;

    // ---- whoever uses the channel

    /// <summary>Starts the thread and opens the session.</summary>
    public void Open(Deadline deadline)
    {
        LibraryThread.Start(new Thread(Run) { IsBackground = true, Name = $"ipc {address.Transport}" }, $"for a connection to {address}");
        Ask(OpenSessionJob, 0, [], deadline);
    }

    public CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        Ask(kind, id, payload, deadline);
        // The thread does not touch it before it is asked again.
        return _reply;
    }

    /// <summary>The last request's reply is done with; from the thread that exchanges.</summary>
    public void DropReply() => _replyDropped = true;

    public void Close()
    {
        lock (_lock)
        {
            _closed = true;
            Monitor.PulseAll(_lock);
        }
    }

    private void Ask(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
    {
        lock (_lock)
        {
            while (_phase != Phase.Idle && !_closed)
            {
                if (!WaitUntilNot(_phase, deadline))
                    throw TimedOut("has not answered an earlier call, and nothing more was sent to it");
            }
            if (_closed)
                throw ClosedHere();
            fixed (byte* bytes = payload)
            {
                (_kind, _id, _length) = (kind, id, payload.Length);
                _bytes = bytes;
                _number++;
                _phase = Phase.Asked;
                Monitor.PulseAll(_lock);
                AwaitDone(deadline);
            }
            _phase = Phase.Idle;
            if (_failure is { } failure)
                throw new IpcException(failure.Status, failure.Message);
        }
    }

    private void AwaitDone(Deadline deadline)
    {
        while (_phase != Phase.Done)
        {
            // While the thread reads the bytes, they must stay.
            if (_phase == Phase.Copying)
            {
                Monitor.Wait(_lock);
                continue;
            }
            if (WaitUntilNot(_phase, deadline) && !_closed)
                continue;
            if (_phase is Phase.Done or Phase.Copying)
                continue;
            if (_phase == Phase.Asked)
                _phase = Phase.Idle;
            else
                _abandoned = true;
            throw _closed ? ClosedHere() : TimedOut("did not answer");
        }
    }

    // False when the deadline passed first.
    private bool WaitUntilNot(Phase phase, Deadline deadline)
    {
        while (_phase == phase && !_closed)
        {
            var left = deadline.LeftMilliseconds;
            if (left == 0)
                return false;
            Monitor.Wait(_lock, left);
        }
        return true;
    }

    private IpcException TimedOut(string what) => new(IpcStatus.TimedOut, $"{address} {what} within the time-out");

    private IpcException ClosedHere() => new(IpcStatus.Closed, $"the channel to {address} was closed here");

    // ---- the thread

    private void Run()
    {
        while (true)
        {
            FrameKind kind;
            ulong number;
            lock (_lock)
            {
                while (_phase != Phase.Asked && !_closed)
                    Monitor.Wait(_lock);
                if (_closed)
                    break;
                (kind, number) = (_kind, _number);
            }
            if (!AnswerJob(kind, number))
                continue;
            lock (_lock)
            {
                _phase = _abandoned ? Phase.Idle : Phase.Done;
                _abandoned = false;
                Monitor.PulseAll(_lock);
            }
        }
        _request.Reset();
        if (_sessionOpen && _message.Begin(_binding, RpcCall.ProcedureClose, RpcCall.ContextSize) == Win32Rpc.RPC_S_OK)
        {
            _context.CopyTo(_message.Request(RpcCall.ContextSize));
            _message.Send();
        }
        _message.Release();
        _request.Release();
        if (_binding != 0)
        {
            var binding = _binding;
            Win32Rpc.FreeBinding(&binding);
        }
    }

    // False if whoever asked has left before it began.
    private bool AnswerJob(FrameKind kind, ulong number)
    {
        try
        {
            if (kind != OpenSessionJob)
                return ExchangeFrame(kind, number);
            if (!Start(number))
                return false;
            Enter(Phase.Calling); // there are no bytes to copy
            OpenSession();
        }
        catch (IpcException e)
        {
            _failure = e;
        }
        catch (OutOfMemoryException)
        {
            _failure = new IpcException(IpcStatus.OutOfMemory, $"out of memory for a call of {address}");
        }
        return true;
    }

    // Whether whoever asked still waits for the job; its bytes then stay until the phase is Calling.
    private bool Start(ulong number)
    {
        lock (_lock)
        {
            if (_closed || _phase != Phase.Asked || _number != number)
                return false;
            _phase = Phase.Copying;
            _failure = null;
            return true;
        }
    }

    private void Enter(Phase phase)
    {
        lock (_lock)
        {
            _phase = phase;
            Monitor.PulseAll(_lock);
        }
    }

    private IpcException RpcFailure(int status)
    {
        var meaning = Win32Rpc.StatusOf(status);
        var what = meaning switch
        {
            IpcStatus.PeerClosed => "has closed or died: connect again",
            IpcStatus.NotOurProtocol => "answered what is not ours",
            _ => "could not be called",
        };
        return Win32.Failure(meaning, $"{address} {what}", status);
    }

    private void Bind()
    {
        char* text = null;
        var network = sequence == RpcSequence.Tcp ? "127.0.0.1" : null;
        var status = Win32Rpc.ComposeStringBinding(null, MsRpcTransport.NameOf(sequence), network, handshake.Endpoint, null, &text);
        nint binding = 0;
        if (status == Win32Rpc.RPC_S_OK)
            status = Win32Rpc.BindingFromString(text, &binding);
        Win32Rpc.FreeString(&text);
        if (status != Win32Rpc.RPC_S_OK)
            throw RpcFailure(status);
        _binding = binding;
    }

    private void OpenSession()
    {
        Bind();
        var status = Win32Rpc.RPC_S_OK;
        lock (s_openingOne[(uint)handshake.Endpoint.GetHashCode(StringComparison.Ordinal) % (uint)s_openingOne.Length])
        {
            // A connection kept from a server that has died since is found broken by its first call.
            for (var tries = 0; tries < 4; tries++)
            {
                status = _message.Begin(_binding, RpcCall.ProcedureOpen, RpcHandshake.SecretSize);
                if (status != Win32Rpc.RPC_S_OK)
                    break;
                handshake.Proof.CopyTo(_message.Request(RpcHandshake.SecretSize));
                status = _message.Send();
                if (status is not (Win32Rpc.RPC_S_CALL_FAILED or Win32Rpc.RPC_S_CALL_FAILED_DNE))
                    break;
            }
        }
        if (Win32Rpc.StatusOf(status) == IpcStatus.PeerClosed)
            throw Win32.Failure(IpcStatus.NoServer, $"nobody listens at {address}: start the server first", status);
        var reply = _message.Reply;
        if (status == Win32Rpc.RPC_S_OK && (reply.Length < 72 || !_message.IsPlain))
            status = Win32Rpc.RPC_X_BAD_STUB_DATA;
        if (status != Win32Rpc.RPC_S_OK)
            throw RpcFailure(status);
        ReadOpened(reply);
    }

    // The answer, the token, the runtime's handle of the session, and the status.
    private void ReadOpened(ReadOnlySpan<byte> reply)
    {
        var refused = (IpcStatus)BinaryPrimitives.ReadInt32LittleEndian(reply[68..]);
        if (refused == IpcStatus.NoServer)
            throw new IpcException(IpcStatus.NoServer, $"nobody listens at {address} any more: start the server first");
        if (refused == IpcStatus.NotAvailable)
            throw new IpcException(IpcStatus.PeerClosed, $"the server at {address} has too many clients that it has not accepted yet: try again");
        if (refused != IpcStatus.Ok || !reply[..RpcHandshake.SecretSize].SequenceEqual(handshake.Answer))
            throw new IpcException(IpcStatus.NoPermission, $"the server at {address} refused this client, or is not the one that listens there");
        reply.Slice(32, RpcCall.TokenSize).CopyTo(_token);
        reply.Slice(48, RpcCall.ContextSize).CopyTo(_context);
        _sessionOpen = true;
    }

    private bool ExchangeFrame(FrameKind kind, ulong number)
    {
        if (_replyDropped)
        {
            _replyDropped = false;
            _request.Reset(); // on Wine a reply holds a connection
        }
        var call = kind == FrameKind.Request ? _request : _message;
        // Memory for the call may need a new connection, and that may take its time: whoever asked can still leave.
        int length;
        uint id;
        lock (_lock)
            (length, id) = (_length, _id);
        var status = call.Begin(_binding, RpcCall.ProcedureExchange, RpcCall.ExchangeHead + length);
        if (!Start(number))
        {
            call.Reset();
            return false;
        }
        if (status == Win32Rpc.RPC_S_OK)
        {
            var room = call.Request(RpcCall.ExchangeHead + length);
            RpcCall.WriteExchangeHead(room, _token, kind, id, length);
            new ReadOnlySpan<byte>(_bytes, length).CopyTo(room[RpcCall.ExchangeHead..]);
        }
        Enter(Phase.Calling);
        RpcExchanged exchanged = default;
        if (status == Win32Rpc.RPC_S_OK)
            status = call.Send();
        if (status == Win32Rpc.RPC_S_OK)
            status = call.ReadExchanged(out exchanged);
        if (status != Win32Rpc.RPC_S_OK)
            throw RpcFailure(status);
        _reply = exchanged.Status switch
        {
            IpcStatus.Ok => new CallReply { Kind = exchanged.Kind, Id = id, Bytes = exchanged.Bytes, Length = exchanged.Length },
            IpcStatus.PeerTooLarge => throw new IpcException(IpcStatus.PeerClosed,
                $"the server at {address} ended the channel because a message of {length} bytes is over its limit: raise its max="),
            IpcStatus.OutOfMemory => throw new IpcException(IpcStatus.OutOfMemory, $"the server at {address} had no memory for the call"),
            _ => throw new IpcException(IpcStatus.PeerClosed, $"the server at {address} has closed the channel: connect again"),
        };
        return true;
    }
}
