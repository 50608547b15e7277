using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>
/// Knows who is inside a handle's calls, so that what they use is given back only when everybody has left: Close, Dispose and every
/// call may come from any threads in any order. One mechanism for channels, queues, publishers and subscribers.
/// </summary>
/// <remarks>
/// Whoever goes in stores a word of its own, then looks whether the handle has ended; whoever ends it says so, then looks at the
/// words. Between store and look each needs a full fence, or both could miss the other. Calls are many and ends are few, so the end
/// pays for both: <see cref="FenceAllThreads"/> makes every thread of the process pass a fence, and going in and out are two plain
/// stores. A word may be stored by one thread at a time: the handle's rules see to that ("one sends, one receives"), or it belongs to
/// one thread (<see cref="EnterAny"/>). Who finds the word taken is counted by locked instructions instead: also where the rules are broken,
/// unless two threads come within the same few nanoseconds.
/// </remarks>
internal sealed partial class HandleGate(int doors)
{
    private const int DoorBytes = 128; // no two on a pair of lines that are fetched together, nor with another object's

    [StructLayout(LayoutKind.Explicit, Size = DoorBytes)]
    private struct Door
    {
        [FieldOffset(DoorBytes / 2)]
        public int Inside;
        [FieldOffset((DoorBytes / 2) + sizeof(int))]
        public int Owner; // a thread, for good; 0: nobody yet
    }

    private readonly Door[] _doors = new Door[doors];
    private int _beside;
    private int _ended;

    /// <summary>The end has begun: nothing the handle owns may be touched by a call that comes now. Looked at after going in.</summary>
    public bool HasEnded => Volatile.Read(ref _ended) != 0;

    /// <summary>Goes in by a door that one thread uses at a time. What is returned belongs to <see cref="Leave"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Enter(int door)
    {
        ref var inside = ref _doors[door].Inside;
        if (inside != 0)
            return EnterBeside();
        Volatile.Write(ref inside, 1);
        FenceEntry();
        return true;
    }

    /// <summary>Goes out. A release: all that was done inside is done before the end can see that nobody is there.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(int door, bool byTheDoor)
    {
        if (byTheDoor)
            Volatile.Write(ref _doors[door].Inside, 0);
        else
            LeaveBeside();
    }

    /// <summary>Goes in where any number of threads may be inside at once; gives what <see cref="LeaveAny"/> takes. The number of doors is a
    /// power of two.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int EnterAny()
    {
        var me = Environment.CurrentManagedThreadId;
        var at = me & (_doors.Length - 1);
        ref var door = ref _doors[at];
        if ((door.Owner != me && !Claim(ref door, me)) || !Enter(at))
            return EnteredBeside(ref door, me);
        return at;
    }

    /// <summary>Goes out again.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void LeaveAny(int door)
    {
        if (door >= 0)
            Volatile.Write(ref _doors[door].Inside, 0);
        else
            LeaveBeside();
    }

    /// <summary>Goes in, counted: for what is seldom done, as closing. False: the end has begun, and the caller is not inside.</summary>
    public bool TryEnterBeside()
    {
        EnterBeside();
        if (!HasEnded)
            return true;
        LeaveBeside();
        return false;
    }

    /// <summary>Goes out again.</summary>
    public void LeaveBeside() => Interlocked.Decrement(ref _beside);

    /// <summary>Begins the end, once; true for the one who is to <see cref="AwaitEmpty"/> and then give everything back. The handle must
    /// refuse calls already, and have woken those that wait.</summary>
    public bool TryEnd() => Interlocked.Exchange(ref _ended, 1) == 0;

    /// <summary>Waits until everybody has left; the caller must not be inside.</summary>
    public void AwaitEmpty()
    {
        FenceAllThreads();
        var wait = new SpinWait();
        while (!IsEmpty())
            wait.SpinOnce();
    }

    private bool IsEmpty()
    {
        if (Volatile.Read(ref _beside) != 0)
            return false;
        foreach (ref var door in _doors.AsSpan())
        {
            if (Volatile.Read(ref door.Inside) != 0)
                return false;
        }
        return true;
    }

    // A full fence by itself.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool EnterBeside()
    {
        Interlocked.Increment(ref _beside);
        return false;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool Claim(ref Door door, int me) => Interlocked.CompareExchange(ref door.Owner, me, 0) == 0;

    // The door is another thread's; counted now, unless Enter has done so.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private int EnteredBeside(ref Door door, int me)
    {
        if (door.Owner != me)
            EnterBeside();
        return -1;
    }
}
