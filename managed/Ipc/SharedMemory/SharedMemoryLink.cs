using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>The mapping two processes share and what tells them about each other: how they close, and the socket that ends
/// when the peer dies. <see cref="SharedMemoryHandover"/> makes it; waiting is in the other half of this class.</summary>
/// <remarks>The mapping lives until Dispose and has no finalizer: a span given out may be the last thing that points there.</remarks>
[SupportedOSPlatform("linux")]
internal sealed unsafe partial class SharedMemoryLink : IDisposable
{
    private readonly Descriptor _socket;
    private readonly ulong _mappedBytes;
    private readonly LocalName? _server;
    private volatile bool _closedHere;
    private volatile bool _peerGone;
    private bool _peerSpins;

    /// <param name="socket">Owned from now on, as the mapping is.</param>
    /// <param name="memory">The mapping.</param>
    /// <param name="mappedBytes">Its length.</param>
    /// <param name="side">0 the client, 1 the server.</param>
    /// <param name="slotCount">Checked; our own copy, because the one in the mapping may be changed by the peer.</param>
    /// <param name="dataBytes">As slotCount.</param>
    /// <param name="policy">How this side waits.</param>
    /// <param name="server">For a client: the name to remove should its server die.</param>
    public SharedMemoryLink(Descriptor socket, byte* memory, ulong mappedBytes, int side, uint slotCount, ulong dataBytes, WaitPolicy policy, LocalName? server)
    {
        (_socket, _mappedBytes, _server) = (socket, mappedBytes, server);
        (Side, SlotCount, DataBytes) = (side, slotCount, dataBytes);
        Memory = memory;
        Outgoing = new RingControl(memory, side);
        Incoming = new RingControl(memory, side ^ 1);
        // With one processor between the two the peer can only answer when we let go of it.
        var together = Processors.AreOne(LocalSocket.PeerOf(socket).Process);
        _policy = (policy with { OneProcessor = together, SliceMilliseconds = SliceMilliseconds }).ParkOnOneProcessor();
        Volatile.Write(ref *Outgoing.WaitsBy, policy.Mode == WaitMode.Spin ? SharedMemoryLayout.WaitsBySpinning : SharedMemoryLayout.WaitsByParking);
    }

    public byte* Memory { get; }
    public int Side { get; }
    public uint SlotCount { get; }
    public ulong DataBytes { get; }
    public RingControl Outgoing { get; }
    public RingControl Incoming { get; }

    /// <summary>Whether the peer is known to have gone: there is nobody to write for.</summary>
    public bool PeerHasClosed
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _peerGone || Volatile.Read(ref *Incoming.Closed) != 0;
    }

    /// <summary>Ends the connection for both sides and wakes whoever waits, here and there. May come more than once.</summary>
    public void Close()
    {
        _closedHere = true;
        // Full fence between closing and the looks at the parked words, so that nobody goes to sleep unseen.
        Interlocked.Exchange(ref *Outgoing.Closed, 1);
        Wake(Outgoing.ReaderParked);
        Wake(Outgoing.WriterParked);
        Wake(Incoming.ReaderParked);
        Wake(Incoming.WriterParked);
        LocalSocket.ShutDown(_socket);
    }

    /// <summary>A client whose server is dead clears its name away.</summary>
    public void ForgetDeadServer()
    {
        if (_server is not null)
            LocalSocket.ForgetDeadServer(_server, _socket);
    }

    /// <summary>Unmaps; once, after Close, when nobody is inside.</summary>
    public void Dispose()
    {
        _ = Libc.Unmap(Memory, (nuint)_mappedBytes);
        _socket.Dispose();
    }

    // The peer's end of the socket goes with its process, however that ends.
    private bool PeerHasDied()
    {
        const short Ends = Libc.POLLHUP | Libc.POLLRDHUP | Libc.POLLERR;
        if (!_peerGone && (Libc.Poll(_socket, Libc.POLLRDHUP, 0) & Ends) != 0)
            _peerGone = true;
        return _peerGone;
    }
}
