using System.Diagnostics;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Where a reader begins.</summary>
internal readonly record struct BroadcastStart(ulong Position, ulong Number);

/// <summary>The publisher's admission thread: lets subscribers in whenever they come, hands them the memory, and notices at once
/// when one is gone, however it went.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class BroadcastAdmission
{
    // A subscriber speaks right after it has connected; who stays silent for so long keeps a place among the pending connections from others.
    private static readonly long s_pendingPatience = 2 * Stopwatch.Frequency;
    private const int MostPending = 64;

    private readonly BroadcastReaders _readers;
    private readonly Func<BroadcastStart> _start;
    private readonly Descriptor _data;
    private readonly LocalListener _listener;
    private readonly Thread _thread;
    private readonly List<PendingConnection> _pending = [];
    private readonly List<Reader> _present = [];
    private Libc.PollEntry[] _entries = new Libc.PollEntry[16];
    private volatile bool _closed;

    /// <summary>A connection that has not said yet how it wants to read.</summary>
    private readonly record struct PendingConnection(Descriptor Socket, long Came);

    private readonly record struct Reader(Descriptor Socket, int Place);

    /// <summary>Takes the name and starts the thread.</summary>
    /// <param name="name">The socket's.</param>
    /// <param name="data">The read-only descriptor subscribers get; owned from now on, unless this throws.</param>
    /// <param name="readers">The table.</param>
    /// <param name="start">Where a new reader begins; called with the table's gate held.</param>
    public BroadcastAdmission(LocalName name, Descriptor data, BroadcastReaders readers, Func<BroadcastStart> start)
    {
        (_data, _readers, _start) = (data, readers, start);
        _listener = LocalListener.Open(name, connection =>
        {
            connection.Dispose(); // this listener makes no channels
            return null;
        });
        _thread = new Thread(Run) { IsBackground = true, Name = "ipc broadcast" };
        try
        {
            LibraryThread.Start(_thread, $"that admits the subscribers of {name.Address}");
        }
        catch
        {
            _listener.Close();
            throw;
        }
    }

    /// <summary>Removes the name; the thread ends the subscribers' connections and itself. From any thread.</summary>
    public void Close()
    {
        _closed = true;
        _listener.Close();
    }

    /// <summary>Waits for the thread's end, after Close.</summary>
    public void Join() => _thread.Join();

    private void Run()
    {
        // The listening socket's number must stay ours while it is polled here, although another thread closes it.
        var counted = false;
        try
        {
            _listener.Socket.DangerousAddRef(ref counted);
            while (!_closed)
                Attend();
        }
        catch (ObjectDisposedException)
        {
            // Closed between two looks.
        }
        finally
        {
            if (counted)
                _listener.Socket.DangerousRelease();
            foreach (var reader in _present)
                Remove(reader);
            foreach (var pending in _pending)
                pending.Socket.Dispose();
            _data.Dispose();
        }
    }

    // Waits for something to happen, and does what there is to do.
    private void Attend()
    {
        var pendingCount = _pending.Count;
        var count = 1 + pendingCount + _present.Count;
        if (_entries.Length < count)
            Array.Resize(ref _entries, 2 * count);
        _entries[0] = EntryOf(_listener.Socket);
        for (var i = 0; i < pendingCount; i++)
            _entries[1 + i] = EntryOf(_pending[i].Socket);
        for (var i = 0; i < _present.Count; i++)
            _entries[1 + pendingCount + i] = EntryOf(_present[i].Socket);
        // Looking at the silent pending connections again soon is exact enough, and with none there is nothing to wake up for.
        if (Libc.PollMany(_entries.AsSpan(0, count), pendingCount == 0 ? -1 : 100) < 0)
            return;

        // Backwards, so that what is taken out does not move what is still to be looked at.
        for (var i = _present.Count - 1; i >= 0; i--)
        {
            if (_entries[1 + pendingCount + i].Returned == 0)
                continue;
            // Gone, or speaking where nothing is to be said: either way this is the end.
            Remove(_present[i]);
            _present.RemoveAt(i);
        }
        for (var i = pendingCount - 1; i >= 0; i--)
        {
            var pending = _pending[i];
            var speaks = _entries[1 + i].Returned != 0;
            if (!speaks && Stopwatch.GetTimestamp() - pending.Came <= s_pendingPatience)
                continue;
            _pending.RemoveAt(i);
            if (!speaks || !Receive(pending.Socket))
                pending.Socket.Dispose();
        }
        if (_entries[0].Returned != 0)
            AcceptPending();
    }

    // The socket is open as long as this thread has it in one of its lists.
    private static Libc.PollEntry EntryOf(Descriptor socket) => new() { Descriptor = (int)socket.DangerousGetHandle(), Events = Libc.POLLIN };

    private void AcceptPending()
    {
        while (_listener.TryAcceptConnection() is { } connection)
        {
            if (_pending.Count == MostPending)
            {
                _pending[0].Socket.Dispose();
                _pending.RemoveAt(0);
            }
            _pending.Add(new PendingConnection(connection, Stopwatch.GetTimestamp()));
        }
        // Out of descriptors: the pending connection keeps the listener readable, so give others time to close some.
        if (Libc.LastError is not (Libc.EAGAIN or Libc.EINTR or Libc.ECONNABORTED))
            Thread.Sleep(10);
    }

    // The join, if that is all the pending connection says; true when it is now a reader.
    private bool Receive(Descriptor socket)
    {
        BroadcastJoin join;
        var got = DescriptorMessage.Receive(socket, &join, sizeof(BroadcastJoin), out var descriptors);
        foreach (var descriptor in descriptors)
            descriptor.Dispose();
        if (got != sizeof(BroadcastJoin) || descriptors.Length != 0 ||
            join is not
            {
                Magic: BroadcastLayout.JoinMagic, Version: SharedMemoryLayout.Version,
                Policy: BroadcastLayout.PolicyWait or BroadcastLayout.PolicyDrop
            })
            return false;
        try
        {
            var place = Admit(join, socket);
            if (place >= 0)
                _present.Add(new Reader(socket, place));
            return place >= 0;
        }
        catch (IpcException)
        {
            return false; // the system has no more memory or descriptors: the subscriber finds its connection ended
        }
    }

    private int Admit(in BroadcastJoin join, Descriptor socket)
    {
        using var page = SealedMemory.Create(BroadcastLayout.PageBytes);
        var greeting = new BroadcastGreeting
        {
            Magic = SharedMemoryLayout.HandoverMagic,
            Version = SharedMemoryLayout.Version,
            Layout = BroadcastLayout.Layout
        };
        int place;
        lock (_readers.Gate)
        {
            (greeting.Position, greeting.Number) = _start();
            place = _readers.Admit(join, page, greeting.Position, socket);
        }
        greeting.Answer = place >= 0 ? BroadcastLayout.Welcome : BroadcastLayout.Full;
        var error = DescriptorMessage.Send(socket, &greeting, sizeof(BroadcastGreeting), place >= 0 ? [_data, page] : []);
        if (place < 0 || error == 0)
            return place;
        lock (_readers.Gate)
            _readers.Remove(place);
        return -1;
    }

    private void Remove(Reader reader)
    {
        lock (_readers.Gate)
            _readers.Remove(reader.Place);
        reader.Socket.Dispose();
    }
}
