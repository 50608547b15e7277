using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>
/// Knows who is inside a handle's calls, so that what they use is given back only when everybody has left: Close, Dispose and every
/// call may come from any threads in any order. One mechanism for channels, queues, publishers and subscribers, and part of each of
/// them: its words lie in the handle, one step away.
/// </summary>
/// <remarks>
/// Whoever goes in stores a word of its own, then looks whether the handle has ended; whoever ends it says so, then looks at the
/// words. Between store and look each needs a full fence, or both could miss the other. Calls are many and ends are few, so the end
/// pays for both: <see cref="ProcessFence.OfAllThreads"/> makes every thread of the process pass a fence, and going in and out are two
/// plain stores. A word may be stored by one thread at a time: the handle's rules see to that ("one sends, one receives"), or it belongs
/// to one thread (<see cref="ThreadDoors"/>). Who finds the word taken is counted by locked instructions instead: also where the rules
/// are broken, unless two threads come within the same few nanoseconds.
/// </remarks>
internal struct HandleGate<TDoors> where TDoors : struct, IDoors
{
    /// <summary>The words of those who pay no locked instruction.</summary>
    public TDoors Doors;
    private int _beside;
    private int _ended;

    /// <summary>The end has begun: nothing the handle owns may be touched by a call that comes now. Looked at after going in.</summary>
    public bool HasEnded => Volatile.Read(ref _ended) != 0;

    /// <summary>Goes in, by one of <see cref="Doors"/> or counted. What is returned belongs to <see cref="Leave"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Enter(ref Door door) => door.TryEnter() || EnterBeside();

    /// <summary>Goes out.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(ref Door door, bool byTheDoor)
    {
        if (byTheDoor)
            door.Leave();
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
        ProcessFence.OfAllThreads();
        var wait = new SpinWait();
        while (Volatile.Read(ref _beside) != 0 || Doors.AnyTaken)
            wait.SpinOnce();
    }

    /// <summary>Goes in, counted, which is a full fence by itself. False: not by a door.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public bool EnterBeside()
    {
        Interlocked.Increment(ref _beside);
        return false;
    }
}
