using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Reads the rendezvous FIFO and opens the pair each record names.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FifoListener : Listener
{
    // Waits are cut into slices, because closing does not end them.
    private const int SliceMilliseconds = 50;
    // How long a client may take for its last step of the rendezvous.
    private const int GreetingMilliseconds = 1000;

    private readonly Address _address;
    private readonly string _path;
    private readonly Descriptor _rendezvous;
    private readonly FileIdentity _identity;
    private volatile bool _closed;
    private int _closeStarted;

    private readonly Lock _gate = new(); // guards what follows
    private readonly byte[] _arrived = new byte[FifoRecord.Length];
    private int _arrivedCount;

    public FifoListener(Address address, LocalName name)
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
            throw Libc.Failure(Status.System, $"cannot listen at {address} ({_path})", error);
        }
        (_rendezvous, _identity) = (made, status.Identity);
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
            throw Libc.Failure(Status.System, $"cannot make the FIFO {name.Path} for {name.Address}", error);
        if (status.User != Libc.EffectiveUser())
            throw new IpcException(Status.NoPermission, $"cannot listen at {name.Address}: {name.Path} belongs to user {status.User}; choose another name");
        throw new IpcException(Status.NameInUse, status.Kind != Libc.S_IFIFO
            ? $"cannot listen at {name.Address}: {name.Path} is not a FIFO; remove it or choose another name"
            : $"cannot listen at {name.Address}: another listener has this name; close it or choose another name");
    }

    public override Channel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Channel.Forever)
            throw new IpcException(Status.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Forever (-1)");
        var deadline = new Deadline(timeoutMilliseconds);
        while (true)
        {
            ThrowIfClosed();
            try
            {
                // A client that died, gave up or misbehaves is not the server's failure: wait for the next one.
                if (NextToken(deadline) is { } token && Greet(token) is { } channel)
                    return channel;
            }
            catch (ObjectDisposedException)
            {
                // Closed by another thread between two system calls; the next look says so.
            }
        }
    }

    private void ThrowIfClosed()
    {
        if (_closed)
            throw new IpcException(Status.Closed, $"the listener at {Address} was closed here");
    }

    // Null: look again.
    private string? NextToken(Deadline deadline)
    {
        lock (_gate)
        {
            if (TakeRecord() is { } token)
                return token;
            // One record at a time: those that stay in the FIFO wake the other threads that wait for one.
            fixed (byte* p = _arrived)
            {
                var count = Libc.Read(_rendezvous, p + _arrivedCount, (nuint)(FifoRecord.Length - _arrivedCount));
                if (count > 0)
                {
                    _arrivedCount += (int)count;
                    return TakeRecord();
                }
            }
        }
        if (deadline.Expired)
            throw new IpcException(Status.TimedOut, $"no client came to {Address} within the time-out");
        Libc.Poll(_rendezvous, Libc.POLLIN, deadline.SliceMilliseconds(SliceMilliseconds));
        return null;
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

    private StreamChannel? Greet(string token)
    {
        // Whatever becomes of the connection, its names are not needed after this.
        using var pair = new FifoPair(_path, token);
        var down = FifoNames.Open(pair.Down, Libc.O_WRONLY, out _);
        var up = down is null ? null : FifoNames.Open(pair.Up, Libc.O_RDONLY, out _);
        if (up is not null && FifoTransport.WriteGreeting(down!) && IsGreeted(up, down!))
            return new StreamChannel(new FifoStream(up, down!), _address);
        up?.Dispose();
        down?.Dispose();
        return null;
    }

    private bool IsGreeted(Descriptor up, Descriptor down)
    {
        var deadline = new Deadline(GreetingMilliseconds);
        while (!_closed && !deadline.Expired)
        {
            // `.down` has nothing to report but the loss of its reader, the client.
            var (fromClient, ofClient) = Libc.PollTwo(up, Libc.POLLIN, down, 0, deadline.SliceMilliseconds(SliceMilliseconds));
            if (fromClient != 0)
                return FifoTransport.ReadGreeting(up);
            if (ofClient != 0)
                return false;
        }
        return false;
    }

    public override void Close()
    {
        if (Interlocked.Exchange(ref _closeStarted, 1) != 0)
            return;
        _closed = true;
        LocalNames.Remove(_path, _identity);
        _rendezvous.Dispose();
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

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            Close();
    }
}
