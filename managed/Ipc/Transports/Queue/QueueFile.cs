namespace Ipc;

/// <summary>One opening of a queue's file: the mapping, and this opening's number among the participants. The number is held by a
/// lock on that byte of the file that belongs to the opening, which the kernel lets go when the process ends, however it ends: so
/// anybody can tell the living from the dead without trusting process numbers, which are used again.</summary>
internal abstract unsafe class QueueFile : IDisposable
{
    private const int MostParticipantsTried = 1000;
    private const uint ParticipantMask = 0x7FFFFFFF;

    private byte* _memory;

    protected QueueFile(byte* memory, uint size)
    {
        _memory = memory;
        Size = size;
    }

    /// <summary>The header, and the data area behind it.</summary>
    public byte* Memory => _memory;
    /// <summary>Bytes of the data area: our own copy, checked.</summary>
    public uint Size { get; }
    /// <summary>This opening's number, 1 to 2^31 - 1.</summary>
    public uint Participant { get; private set; }

    /// <summary>Opens the queue, or makes it with <paramref name="size"/> bytes. The name appears when the file is complete.
    /// The deadline is for the folder's lock, which Windows needs.</summary>
    public static QueueFile Open(IpcAddress address, uint size, Deadline deadline)
    {
        if (OperatingSystem.IsLinux())
            return LinuxQueueFile.OpenOrMake(address, size);
        return OperatingSystem.IsWindows() ? WindowsQueueFile.OpenOrMake(address, size, deadline) : throw new PlatformNotSupportedException();
    }

    /// <summary><see cref="IpcStatus.NoServer"/> if there is none.</summary>
    public static void Remove(IpcAddress address)
    {
        if (OperatingSystem.IsLinux())
            LinuxQueueFile.RemoveName(address);
        else if (OperatingSystem.IsWindows())
            WindowsQueueFile.RemoveName(address);
    }

    /// <summary>Whether a participant's process may still be there; true also when that cannot be known.</summary>
    public bool IsAlive(uint participant)
    {
        // A lock never stands in its own holder's way.
        return participant == Participant || IsSigned(participant);
    }

    /// <summary>Unmaps, and lets go of the number; when nobody is inside.</summary>
    public void Dispose()
    {
        if (_memory == null)
            return;
        Release(_memory);
        _memory = null;
    }

    /// <summary>Takes a number; false when another opening has it. Throws for other reasons.</summary>
    protected abstract bool TrySign(uint participant);

    /// <summary>Whether another opening has the number.</summary>
    protected abstract bool IsSigned(uint participant);

    protected abstract void Release(byte* memory);

    protected void BecomeParticipant(IpcAddress address)
    {
        for (var tries = 0; tries < MostParticipantsTried; tries++)
        {
            var number = (Interlocked.Increment(ref *(uint*)(_memory + QueueLayout.NextParticipant)) - 1) & ParticipantMask;
            // 0 is nobody. A number that a lock still names is a dead holder's: taking it would bring the holder back to life.
            if (number == 0 || Volatile.Read(ref *(uint*)(_memory + QueueLayout.WriterLock)) >> 1 == number ||
                Volatile.Read(ref *(uint*)(_memory + QueueLayout.ReaderLock)) >> 1 == number || !TrySign(number))
            {
                continue;
            }
            Participant = number;
            return;
        }
        throw new IpcException(IpcStatus.System, $"another program keeps the file of the queue {address} locked: end it, or remove the queue");
    }
}
