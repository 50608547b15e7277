using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>The mapping two processes share and what tells them about each other: how they close, and the connection that
/// ends when the peer dies. <see cref="SharedMemoryHandover"/> makes it; waiting is in the other half of this class.</summary>
/// <remarks>The mapping lives until Dispose and has no finalizer: a span given out may be the last thing that points there.</remarks>
internal sealed unsafe partial class SharedMemorySegment : IDisposable
{
    private readonly SharedMemoryPeer _peer;
    private readonly ulong _mappedBytes;
    private volatile bool _closedHere;
    private volatile bool _peerGone;
    private bool _peerSpins;

    /// <param name="peer">Owned from now on, as the mapping is.</param>
    /// <param name="memory">The mapping.</param>
    /// <param name="mappedBytes">Its length.</param>
    /// <param name="side">0 the client, 1 the server.</param>
    /// <param name="slotCount">Checked; our own copy, because the one in the mapping may be changed by the peer.</param>
    /// <param name="dataBytes">As slotCount.</param>
    /// <param name="policy">How this side waits.</param>
    public SharedMemorySegment(SharedMemoryPeer peer, byte* memory, ulong mappedBytes, int side, uint slotCount, ulong dataBytes, WaitPolicy policy)
    {
        (_peer, _mappedBytes) = (peer, mappedBytes);
        (Side, SlotCount, DataBytes) = (side, slotCount, dataBytes);
        Memory = memory;
        Outgoing = new RingControl(memory, side);
        Incoming = new RingControl(memory, side ^ 1);
        // With one processor between the two the peer can only answer when we let go of it.
        var together = peer.HasOneProcessorWithUs();
        _policy = (policy with { OneProcessor = together, SliceMilliseconds = SliceMilliseconds }).ParkOnOneProcessor();
        peer.SleepOn(memory);
        Volatile.Write(ref *Outgoing.WaitsBy, policy.Mode == WaitMode.Spin ? SharedMemoryLayout.WaitsBySpinning : SharedMemoryLayout.WaitsByParking);
    }

    public byte* Memory { get; }
    public int Side { get; }
    public uint SlotCount { get; }
    public ulong DataBytes { get; }
    public RingControl Outgoing { get; }
    public RingControl Incoming { get; }

    /// <summary>What the memory came over, where that is a socket.</summary>
    public Descriptor? Socket => _peer.Socket;

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
        _peer.HangUp();
    }

    /// <summary>A client whose server is dead clears its name away.</summary>
    public void ForgetDeadServer(Deadline deadline) => _peer.ForgetDeadServer(deadline);

    /// <summary>Unmaps; once, after Close, when nobody is inside.</summary>
    public void Dispose()
    {
        _peer.Dispose(); // first: it knows words of the mapping
        SharedMemoryPeer.Unmap(Memory, _mappedBytes);
    }

    /// <summary>Looks whether the peer has died, at once rather than when a look is due.</summary>
    public void LookAtPeer() => _ = PeerHasDied();

    private bool PeerHasDied()
    {
        if (!_peerGone && _peer.HasDied())
            _peerGone = true;
        return _peerGone;
    }
}
