namespace Ipc;

/// <summary>The other process, as far as it shows outside the mapping: the connection both met over, which hands the memory over and ends
/// when the peer closes or dies. Nothing else is ever sent over it.</summary>
internal abstract unsafe partial class SharedMemoryPeer : IDisposable
{
    /// <summary>The server's end, once: memory of zeros that nobody can resize, mapped; unmapped by <see cref="Unmap"/>.</summary>
    public abstract byte* Make(ref ulong bytes, bool hugePages);

    /// <summary>The server's end, once, when the memory is complete. False when the client is gone already.</summary>
    public abstract bool HandOver(uint layout);

    /// <summary>Hangs up when the peer has died; null where nothing of the kind can be waited for.</summary>
    public virtual Descriptor? Socket => null;

    /// <summary>The client's end, once: the memory the server hands over, mapped; null with 0 bytes for what is too small or could be
    /// resized.</summary>
    public abstract byte* Receive(uint layout, Deadline deadline, out ulong bytes);

    /// <summary>Both ends, before anybody sleeps: the mapping whose words that will be on.</summary>
    public abstract void SleepOn(byte* memory);

    /// <summary>Whether this thread and the peer's process have one and the same single processor between them.</summary>
    public abstract bool HasOneProcessorWithUs();

    /// <summary>Whether the other end is gone. A system call.</summary>
    public abstract bool HasDied();

    /// <summary>Ends the connection, which the peer sees. From any thread, more than once.</summary>
    public abstract void HangUp();

    /// <summary>A client whose server is dead clears its name away.</summary>
    public abstract void ForgetDeadServer(Deadline deadline);

    public abstract void Dispose();

    public static void Unmap(byte* memory, ulong bytes)
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.Unmap(memory, (nuint)bytes);
        else if (OperatingSystem.IsWindows())
            _ = Win32.UnmapViewOfFile(memory);
    }
}
