namespace Ipc;

/// <summary>Of a queue, which any number of threads use at once: each of the first few has a door for itself. These runtimes cannot keep
/// them in the queue itself.</summary>
internal struct ThreadDoors : IDoors
{
    private const int Count = 16; // a power of two

    private Door[]? _doors;

    public bool AnyTaken
    {
        get
        {
            foreach (ref var door in Volatile.Read(ref _doors).AsSpan())
            {
                if (door.IsTaken)
                    return true;
            }
            return false;
        }
    }

    /// <summary>This thread's door; false if the one it would have is another's.</summary>
    public ref Door Mine(out bool isMine)
    {
        var me = Environment.CurrentManagedThreadId;
        ref var door = ref (Volatile.Read(ref _doors) ?? Make())[me & (Count - 1)];
        isMine = door.Owner == me || Interlocked.CompareExchange(ref door.Owner, me, 0) == 0;
        return ref door;
    }

    private Door[] Make()
    {
        var made = new Door[Count];
        return Interlocked.CompareExchange(ref _doors, made, null) ?? made;
    }
}
