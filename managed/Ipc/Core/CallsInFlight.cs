using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>A client's calls whose replies have not been handed out yet: which number belongs to whose tag. One thread submits and one completes,
/// without locks: a place belongs to the submitter while its number is 0, and from then on to who completes. Twin of native CallsInFlight.</summary>
internal sealed class CallsInFlight
{
    public const int Most = 256;
    public const int None = -1;

    private readonly uint[] _ids = new uint[Most];
    private readonly ulong[] _tags = new ulong[Most];
    private int _submitted;
    private uint _sent;
    private int _completed;

    /// <summary>A reply that was taken in while a request waited for room.</summary>
    public readonly struct Arrival(ulong tag, bool isFault, byte[] bytes)
    {
        public ulong Tag { get; } = tag;
        public bool IsFault { get; } = isFault; // the bytes are its text
        public byte[] Bytes { get; } = bytes;
    }

    /// <summary>Replies that wait here, for who completes; or for who submits while <see cref="TakingIn"/> is set and nobody completes.</summary>
    public Queue<Arrival> Arrived { get; } = new();

    /// <summary>The submitter is about to take replies in itself, and does; who completes stands back.</summary>
    public bool TakingIn
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref _takingIn);
        set => Volatile.Write(ref _takingIn, value);
    }

    private bool _takingIn;

    public bool Any => Volatile.Read(ref _submitted) != Volatile.Read(ref _completed);
    public bool IsFull => _submitted - Volatile.Read(ref _completed) >= Most;

    // ---- for who submits

    /// <summary>Before the request goes: its reply may be there before sending has returned. Not while it is full. Returns the place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Enter(uint id, ulong tag)
    {
        var at = (int)(id % Most);
        // Calls that stay long keep their places; the number looks for the next.
        while (Volatile.Read(ref _ids[at]) != 0)
            at = (at + 1) % Most;
        _tags[at] = tag;
        Volatile.Write(ref _ids[at], id);
        Volatile.Write(ref _submitted, _submitted + 1);
        return at;
    }

    /// <summary>The request is out.</summary>
    public void Sent(uint id) => Volatile.Write(ref _sent, id);

    /// <summary>It is not, and its call never was: nobody has looked at the place, since it is not <see cref="Sent"/>.</summary>
    public void TakeBack(int at, uint id)
    {
        Volatile.Write(ref _ids[at], 0);
        Volatile.Write(ref _submitted, _submitted - 1);
        Sent(id);
    }

    // ---- for who completes

    /// <summary>Where the call with this number is; None if it is not in flight: a late reply, or one to nothing.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Find(uint id)
    {
        var first = (int)(id % Most);
        return Volatile.Read(ref _ids[first]) == id && id != 0 ? first : FindFurther(id, first);
    }

    private int FindFurther(uint id, int first)
    {
        for (var at = (first + 1) % Most; id != 0 && at != first; at = (at + 1) % Most)
        {
            if (Volatile.Read(ref _ids[at]) == id)
                return at;
        }
        return None;
    }

    /// <summary>Whether its request is not wholly out, as far as can be seen here: a moment too soon for an honest server's reply.</summary>
    public bool IsBeingSent(uint id) => (int)(id - Volatile.Read(ref _sent)) > 0;

    public ulong Tag(int at) => _tags[at];

    /// <summary>The call is over. It still counts until <see cref="CountCompleted"/>, for its reply may wait to be handed out.</summary>
    public void End(int at) => Volatile.Write(ref _ids[at], 0);

    public void CountCompleted() => Volatile.Write(ref _completed, _completed + 1);

    /// <summary>Some call whose request is out, for a channel that has ended.</summary>
    public int FindAny()
    {
        for (var at = 0; at < Most; at++)
        {
            if (Volatile.Read(ref _ids[at]) is not 0 and var id && !IsBeingSent(id))
                return at;
        }
        return None;
    }
}
