using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Of a queue, which any number of threads use at once: each of the first few has a door for itself.</summary>
internal struct ThreadDoors : IDoors
{
    private const int Count = 16; // a power of two

    private Many _doors;

    public bool AnyTaken
    {
        get
        {
            foreach (ref var door in (Span<Door>)_doors)
            {
                if (door.IsTaken)
                    return true;
            }
            return false;
        }
    }

    /// <summary>This thread's door; false if the one it would have is another's.</summary>
    [UnscopedRef]
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ref Door Mine(out bool isMine)
    {
        var me = Environment.CurrentManagedThreadId;
        ref var door = ref Unsafe.Add(ref Unsafe.As<Many, Door>(ref _doors), me & (Count - 1));
        isMine = door.Owner == me || Claim(ref door, me);
        return ref door;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool Claim(ref Door door, int me) => Interlocked.CompareExchange(ref door.Owner, me, 0) == 0;

    [InlineArray(Count)]
    private struct Many
    {
        [SuppressMessage("CodeQuality", "IDE0051", Justification = "The first of them.")]
        private Door _first;
    }
}

/// <summary>Being inside a queue on the long way, from beginning to end of a call.</summary>
internal readonly ref struct ThreadVisit
{
    private readonly ref HandleGate<ThreadDoors> _gate;
    private readonly ref Door _door;
    private readonly bool _byTheDoor;

    public ThreadVisit(ref HandleGate<ThreadDoors> gate)
    {
        _gate = ref gate;
        _door = ref gate.Doors.Mine(out var isMine);
        _byTheDoor = isMine ? gate.Enter(ref _door) : gate.EnterBeside();
    }

    public void Dispose() => _gate.Leave(ref _door, _byTheDoor);
}
