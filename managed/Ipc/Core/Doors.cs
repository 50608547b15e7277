using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>A word that one thread at a time stores while it is inside a handle (<see cref="HandleGate{TDoors}"/>).</summary>
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal struct Door
{
    private const int Bytes = 128; // no two on a pair of lines that are fetched together, nor with the handle's own fields

    [FieldOffset(Bytes / 2)]
    private int _inside;
    /// <summary>Of one of many doors: whose it is, for good; 0: nobody's yet.</summary>
    [FieldOffset((Bytes / 2) + sizeof(int))]
    public int Owner;

    public bool IsTaken => Volatile.Read(ref _inside) != 0;

    /// <summary>Goes in unless somebody is inside. The handle's end is to be looked at after this.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryEnter()
    {
        if (_inside != 0)
            return false;
        Volatile.Write(ref _inside, 1);
        ProcessFence.OfEntry();
        return true;
    }

    /// <summary>Goes out. A release: all that was done inside is done before the end can see that nobody is there.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave() => Volatile.Write(ref _inside, 0);
}

/// <summary>All doors of a handle.</summary>
internal interface IDoors
{
    bool AnyTaken { get; }
}

/// <summary>Of a publisher or a subscriber, which one thread at a time uses.</summary>
internal struct OneDoor : IDoors
{
    public Door Only;

    public bool AnyTaken => Only.IsTaken;
}

/// <summary>Of a channel: a thread each is in the sender's and in the receiver's half.</summary>
internal struct TwoDoors : IDoors
{
    public Door Sender;
    public Door Receiver;

    public bool AnyTaken => Sender.IsTaken || Receiver.IsTaken;
}
