using System.Diagnostics;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Reads the handshake FIFO, greets whoever leaves a record there, and makes channels of those that answer. All handshakes go on
/// side by side, so that nobody waits for a client that says nothing.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FifoListener : IpcListener
{
    // Waits are cut into slices, because closing does not end them.
    private const int SliceMilliseconds = 50;
    // How long a client may take for its last step of the handshake, in milliseconds, and how many may be at it. When they are too many the
    // oldest goes, but each has the shortest time at least; meanwhile new ones wait in the FIFO.
    private const long LongestHandshake = 2000, ShortestHandshake = 20;
    private const int MostHandshakes = 128;
    // Records in one look, so that those who answer are not kept waiting.
    private const int MostAtOnce = 64, MostReads = 4096;

    private readonly IpcAddress _address;
    private readonly string _path;
    private readonly Descriptor _handshakeFifo;
    private readonly FileIdentity _identity;
    private readonly ManualResetEventSlim _closing = new();
    private volatile bool _closed;
    private int _closeStarted;

    private readonly object _gate = new(); // guards what follows; pulsed when it changes
    private readonly Queue<StreamChannel> _ready = new();
    private bool _somebodyLooks;

    // Of the thread that looks.
    private List<Handshake> _handshakes = []; // the oldest first
    private readonly byte[] _arrived = new byte[FifoRecord.Length];
    private int _arrivedCount;
    private string? _postponed; // the token of a client for whom the system had no descriptors

    /// <summary>A client that has been greeted and has not answered. Its names are not needed any more when this ends.</summary>
    private sealed record Handshake(FifoPair Pair, Descriptor Up, Descriptor Down, long Began) : IDisposable
    {
        /// <summary>Seen to have `.up` open, so that its answer is on the way.</summary>
        public bool Opened { get; private set; }

        /// <summary>To be asked before a client is let go: one that has not opened `.up` by now cannot any more and comes again (false); one
        /// that has is about to answer (null), or has answered.</summary>
        public bool? Withdraw()
        {
            Pair.Dispose();
            var answered = FifoTransport.ReadGreeting(Up);
            Opened = answered is null;
            return answered;
        }

        public void Dispose()
        {
            Up.Dispose();
            Down.Dispose();
            Pair.Dispose();
        }
    }

    public FifoListener(IpcAddress address, LocalName name)
    {
        (_address, _path) = (address, name.Path);
        using var names = LocalNames.Lock();
        TakeName(name);
        FifoNames.RemoveDeadPairs(_path);
        // Open for writing as well: without a writer of its own it would meet an end whenever a client leaves.
        var made = FifoNames.Open(_path, Libc.O_RDWR, out var error);
        if (made is null || !Libc.GetStatus(made, out var status))
        {
            made?.Dispose();
            _ = Libc.Unlink(_path);
            throw Libc.Failure(IpcStatus.System, $"cannot listen at {address} ({_path})", error);
        }
        (_handshakeFifo, _identity) = (made, status.Identity);
    }

    public override string Address => _address.ToString();

    private static void TakeName(LocalName name)
    {
        var error = FifoNames.Make(name.Path);
        if (error == Libc.EEXIST && FifoNames.RemoveDead(name.Path))
            error = FifoNames.Make(name.Path);
        if (error == 0)
            return;
        if (!Libc.GetStatus(name.Path, out var status))
            throw Libc.Failure(IpcStatus.System, $"cannot make the FIFO {name.Path} for {name.Address}", error);
        if (status.User != Libc.EffectiveUser())
            throw new IpcException(IpcStatus.NoPermission, $"cannot listen at {name.Address}: {name.Path} belongs to user {status.User}; choose another name");
        if (status.Kind != Libc.S_IFIFO)
            throw new IpcException(IpcStatus.NameInUse, $"cannot listen at {name.Address}: {name.Path} is not a FIFO; remove it or choose another name");
        using var tried = FifoNames.Open(name.Path, Libc.O_WRONLY, out error);
        throw Libc.IsShortage(error) ? Libc.Failure(IpcStatus.System, $"cannot find out whether another listener has the name of {name.Address}", error)
            : new IpcException(IpcStatus.NameInUse, $"cannot listen at {name.Address}: another listener has this name; close it or choose another name");
    }

    public override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        var patience = new AcceptPatience(deadline);
        var backoff = new AcceptBackoff();
        while (true)
        {
            if (TakeReady(deadline) is { } channel)
                return channel;
            var cameNobody = false;
            try
            {
                cameNobody = !Look(deadline) && deadline.Expired;
            }
            // The system is short of something. The next look says so if the listener is closed meanwhile.
            catch (IpcException e) when (e.Status == IpcStatus.System)
            {
                // What silent clients hold comes back with the next of them that has had its time: no failure of the one who accepts.
                var willPass = _handshakes.Count > 0;
                if (DropHandshakes((_handshakes.Count + 1) / 2))
                    backoff = new AcceptBackoff();
                if (!backoff.Wait(_closing, deadline) && !_closed)
                {
                    if (!willPass)
                        throw;
                    cameNobody = true;
                }
            }
            finally
            {
                StopLooking();
            }
            if ((cameNobody || patience.IsOver) && !_closed && !HasReady)
                throw NobodyCame();
        }
    }

    // One thread looks at all that goes on; the others wait for what it finds, and one of them goes on looking when it leaves. A channel,
    // or null for the thread that is to look.
    private StreamChannel? TakeReady(Deadline deadline)
    {
        lock (_gate)
        {
            while (true)
            {
                if (_closed)
                    throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was closed here");
                if (_ready.Count > 0)
                    return _ready.Dequeue();
                if (!_somebodyLooks)
                {
                    _somebodyLooks = true;
                    return null;
                }
                if (deadline.Expired)
                    throw NobodyCame();
                Monitor.Wait(_gate, deadline.LeftMilliseconds);
            }
        }
    }

    private void StopLooking()
    {
        lock (_gate)
        {
            _somebodyLooks = false;
            Monitor.PulseAll(_gate);
        }
    }

    private static long NowMilliseconds => Stopwatch.GetTimestamp() / (Stopwatch.Frequency / 1000);

    private bool HasReady
    {
        get
        {
            lock (_gate)
                return _ready.Count > 0;
        }
    }

    private IpcException NobodyCame() => new(IpcStatus.TimedOut, $"no client came to {Address} within the time-out");

    // False if there was nothing to be seen.
    private bool Look(Deadline deadline)
    {
        var entries = new Libc.PollEntry[1 + (2 * _handshakes.Count)];
        entries[0] = new Libc.PollEntry { Descriptor = HasRoom ? (int)_handshakeFifo.DangerousGetHandle() : -1, Events = Libc.POLLIN };
        for (var i = 0; i < _handshakes.Count; i++)
        {
            // These descriptors are the looking thread's alone; the handshake is closed once nobody looks.
            entries[1 + (2 * i)] = new Libc.PollEntry { Descriptor = (int)_handshakes[i].Up.DangerousGetHandle(), Events = Libc.POLLIN };
            // Has nothing to report but the loss of its reader, the client.
            entries[2 + (2 * i)] = new Libc.PollEntry { Descriptor = (int)_handshakes[i].Down.DangerousGetHandle() };
        }
        var seen = Libc.PollMany(entries, _postponed is null || !HasRoom ? WaitMilliseconds(deadline) : 0) > 0;
        FinishHandshakes(entries);
        if (entries[0].Returned != 0 || _postponed is not null)
            BeginHandshakes();
        return seen;
    }

    // Until the deadline, the end of the oldest handshake, or the time when one may make room; in slices, because closing does not end it.
    private int WaitMilliseconds(Deadline deadline)
    {
        var wait = deadline.SliceMilliseconds(SliceMilliseconds);
        if (_handshakes.Count == 0)
            return wait;
        var end = _handshakes.Count < MostHandshakes ? _handshakes[0].Began + LongestHandshake : NextToDrop.Began + ShortestHandshake;
        return (int)Math.Min(wait, Math.Max(end - NowMilliseconds, 0) + 1);
    }

    private bool HasRoom => _handshakes.Count < MostHandshakes || NextToDrop.Began + ShortestHandshake <= NowMilliseconds;

    // Those that have answered are through; those that have left or been silent for too long are forgotten.
    private void FinishHandshakes(Libc.PollEntry[] entries)
    {
        var now = NowMilliseconds;
        var goingOn = new List<Handshake>();
        for (var i = 0; i < _handshakes.Count; i++)
        {
            var handshake = _handshakes[i];
            var left = entries[2 + (2 * i)].Returned != 0;
            var late = now - handshake.Began >= LongestHandshake;
            bool? answered = null;
            if (late)
                answered = handshake.Withdraw();
            else if (entries[1 + (2 * i)].Returned != 0)
                answered = FifoTransport.ReadGreeting(handshake.Up);
            if (answered is true)
                FinishHandshake(handshake);
            else if (answered is null && !left && !late)
                goingOn.Add(handshake);
            else
                handshake.Dispose();
        }
        _handshakes = goingOn;
    }

    // Of one that has answered: a channel, unless it left again without a message.
    private void FinishHandshake(Handshake handshake)
    {
        // Asked for nothing, a FIFO's writing end reports the loss of its reader.
        if (Libc.Poll(handshake.Down, 0, 0) != 0 && (Libc.Poll(handshake.Up, Libc.POLLIN, 0) & Libc.POLLIN) == 0)
        {
            handshake.Dispose();
            return;
        }
        var channel = new StreamChannel(new FifoStream(handshake.Up, handshake.Down), _address);
        handshake.Pair.Dispose();
        lock (_gate)
            _ready.Enqueue(channel);
    }

    // Those that are about to answer come last, because they will take themselves for connected.
    private Handshake NextToDrop => _handshakes.Find(handshake => !handshake.Opened) ?? _handshakes[0];

    // Makes room for others: lets go of `most` of those that have had the shortest time, the oldest first; false if there are none.
    private bool DropHandshakes(int most)
    {
        if (_handshakes.Count == 0)
            return false;
        var latest = NowMilliseconds - ShortestHandshake;
        var allOpened = NextToDrop.Opened; // any of them may be silent, too
        var goingOn = new List<Handshake>();
        for (var i = 0; i < _handshakes.Count; i++)
        {
            var handshake = _handshakes[i];
            var enough = i - goingOn.Count == most;
            bool? answered = null;
            if (!enough && handshake.Began <= latest && (allOpened || !handshake.Opened))
                answered = handshake.Withdraw() ?? (allOpened ? false : null);
            if (answered is true)
                FinishHandshake(handshake);
            else if (answered is null)
                goingOn.Add(handshake);
            else
                handshake.Dispose();
        }
        var dropped = goingOn.Count < _handshakes.Count;
        _handshakes = goingOn;
        return dropped;
    }

    private void BeginHandshakes()
    {
        for (var i = 0; i < MostAtOnce && HasRoom && (_postponed ??= NextToken()) is { } token; i++)
        {
            if (_handshakes.Count >= MostHandshakes && !DropHandshakes(1))
                return;
            BeginHandshake(token);
            _postponed = null;
        }
    }

    // A client that has left or misbehaves is not the server's failure.
    private void BeginHandshake(string token)
    {
        var pair = new FifoPair(_path, token);
        var down = FifoNames.Open(pair.Down, Libc.O_WRONLY, out var error);
        var up = down is null ? null : FifoNames.Open(pair.Up, Libc.O_RDONLY, out error);
        if (up is null && Libc.IsShortage(error))
        {
            down?.Dispose();
            throw Libc.Failure(IpcStatus.System, $"cannot accept a client at {Address}", error);
        }
        if (up is null || !FifoTransport.WriteGreeting(down!))
        {
            up?.Dispose();
            down?.Dispose();
            pair.Dispose();
            return;
        }
        _handshakes.Add(new Handshake(pair, up, down!, NowMilliseconds));
    }

    // Null when none has arrived as a whole.
    private string? NextToken()
    {
        for (var reads = 0; reads < MostReads; reads++)
        {
            if (TakeRecord() is { } token)
                return token;
            int count;
            fixed (byte* p = _arrived)
                count = (int)Libc.Read(_handshakeFifo, p + _arrivedCount, (nuint)(FifoRecord.Length - _arrivedCount));
            if (count <= 0)
                return null;
            _arrivedCount += count;
        }
        return null; // somebody writes nonsense faster than it is passed over
    }

    // Anything can have been written there: what is no record is passed over until one may begin.
    private string? TakeRecord()
    {
        if (_arrivedCount < FifoRecord.Length)
            return null;
        var token = FifoRecord.Read(_arrived);
        var next = token is not null ? -1 : _arrived.AsSpan(1).IndexOf(FifoRecord.First);
        var rest = next < 0 ? [] : _arrived.AsSpan(1 + next);
        rest.CopyTo(_arrived);
        _arrivedCount = rest.Length;
        return token;
    }

    public override void Close()
    {
        if (Interlocked.Exchange(ref _closeStarted, 1) != 0)
            return;
        LocalNames.Remove(_path, _identity);
        lock (_gate)
        {
            _closed = true;
            _closing.Set();
            Monitor.PulseAll(_gate);
            // Clients learn that nobody accepts them when the handshake is closed, which must not happen under a look.
            while (_somebodyLooks)
                Monitor.Wait(_gate);
            foreach (var handshake in _handshakes)
                handshake.Dispose();
            _handshakes.Clear();
            foreach (var channel in _ready)
                channel.Dispose();
            _ready.Clear();
            _handshakeFifo.Dispose();
        }
        try
        {
            using var names = LocalNames.Lock();
            FifoNames.RemoveDeadPairs(_path);
        }
        catch (IpcException)
        {
            // Left to whoever listens there next.
        }
    }

    /// <summary>Of a listener that nobody disposed the name goes, too.</summary>
    ~FifoListener() => Dispose(false);

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
        else if (Interlocked.Exchange(ref _closeStarted, 1) == 0)
            LocalNames.Remove(_path, _identity);
    }
}
