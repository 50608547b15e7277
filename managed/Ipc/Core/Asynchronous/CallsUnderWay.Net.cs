namespace Ipc;

/// <summary>The asynchronous calls of one channel. Those that find no place in flight, or another one being sent, queue up; whoever finds nobody
/// sending sends what is queued, and goes on with it when there is room. One operation, which goes from thread to thread, takes in replies while any
/// call is in flight. The order of locking: nobody is inside the channel, nor is any task completed, under the lock.</summary>
internal sealed partial class CallsUnderWay : IOperationOwner
{
    // Shorter replies are copied once more: whose a reply is, is known only with its bytes.
    private const int ScratchBytes = 4096;

    private readonly IpcChannel _channel;
    private readonly Lock _lock = new();
    private readonly PendingCall?[] _byTag = new PendingCall?[CallsInFlight.Most]; // null of a busy tag: its caller has given it up
    private readonly int[] _freeTags = new int[CallsInFlight.Most];
    private readonly byte[] _scratch = new byte[ScratchBytes];
    private int _freeCount = CallsInFlight.Most;
    private PendingCall? _spare;
    private PendingCall? _first, _last; // queued
    private ChannelOperation? _sender;  // while somebody sends
    private PendingCall? _sending;      // null as well when it was completed or given up meanwhile
    private int _sendingTag;
    private bool _receiving;
    private readonly List<int> _givenUp = []; // tags in flight, for who receives to forget
    private readonly (uint Id, int At)[] _places = new (uint, int)[CallsInFlight.Most];
    private int _early; // set by who receives: a reply may have been there before its request was known to be out
    private byte[]? _kept;
    private bool _orphan; // nobody waits for the call that is being sent any more

    // Of who receives.
    private Memory<byte> _room;
    private PendingCall? _endsLast;
    private (int Length, Exception? Failure) _lastOutcome;

    public CallsUnderWay(IpcChannel channel)
    {
        _channel = channel;
        for (var tag = 0; tag < _freeTags.Length; tag++)
            _freeTags[tag] = tag;
        _room = _scratch;
    }

    private int InFlight => CallsInFlight.Most - _freeCount;

    public ValueTask<int> Begin(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token)
    {
        if (token.IsCancellationRequested)
            return ValueTask.FromCanceled<int>(token);
        if (_channel.AnswersSoon && TryBeginAlone() is { } tag)
            return BeginAlone(tag, request, reply, token);
        return BeginBesideOthers(request, reply, token);
    }

    private ValueTask<int> BeginBesideOthers(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token)
    {
        PendingCall call;
        lock (_lock)
            call = NewCall(request, reply, token);
        call.WatchToken();
        ValueTask<int> task;
        bool sends = false, refused = false, isAlone, cancelled;
        lock (_lock)
        {
            task = call.Task;
            isAlone = InFlight == 0 && _first is null && !_receiving;
            cancelled = call.IsCancelled;
            if (!cancelled)
            {
                _kept = null;
                refused = isAlone && !_channel.MayCall;
                sends = !refused && _sender is null && _freeCount > 0;
                if (sends)
                    refused = (_sender = _channel.TakeSender()) is null;
                if (!refused)
                    Append(call);
            }
        }
        if (refused)
            call.Complete(0, IpcChannel.UnderWay(), inline: true);
        else if (cancelled)
            call.CompleteCancelled();
        else
        {
            if (sends)
                Send();
            Receive(isAlone ? call : null);
        }
        return task;
    }

    // Under the lock.
    private PendingCall NewCall(ReadOnlyMemory<byte> request, Memory<byte> reply, CancellationToken token)
    {
        var call = _spare ?? new PendingCall(this);
        _spare = call.Next;
        call.Set(request, reply, token);
        return call;
    }

    /// <summary>Its task was awaited; it can be used again.</summary>
    public void TakeBack(PendingCall call)
    {
        lock (_lock)
            (call.Next, _spare) = (_spare, call);
    }

    public void Cancel(PendingCall call)
    {
        ChannelOperation? wake = null;
        bool over = false, wakesReceiver = false;
        lock (_lock)
        {
            call.IsCancelled = true;
            switch (call.State)
            {
                case CallState.Queued:
                    over = Unlink(call);
                    break;
                case CallState.Sending:
                    wake = _sender;
                    break;
                case CallState.InFlight:
                    _givenUp.Add(call.Tag);
                    wakesReceiver = true;
                    break;
            }
            if (over)
                call.State = CallState.Over;
        }
        if (over)
            call.CompleteCancelled();
        wake?.Wake();
        if (wakesReceiver)
            _channel.WakeReceiver();
    }

    // ---- the queue, under the lock

    private void Append(PendingCall call)
    {
        if (_last is null)
            _first = call;
        else
            _last.Next = call;
        _last = call;
    }

    private bool Unlink(PendingCall call)
    {
        PendingCall? before = null;
        for (var at = _first; at is not null; (before, at) = (at, at.Next))
        {
            if (at != call)
                continue;
            if (before is null)
                _first = at.Next;
            else
                before.Next = at.Next;
            if (_last == at)
                _last = before;
            at.Next = null;
            return true;
        }
        return false;
    }

    // ---- operations that went on by themselves

    public void Ended(OperationKind kind, Exception? failure)
    {
        if (kind == OperationKind.Submit)
        {
            if (GoOnSending(_sender!, failure))
                Send();
            Receive(null);
        }
        else if (EndReceiving(failure))
        {
            while (!StartReceiving())
            {
            }
        }
    }
}
