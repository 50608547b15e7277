namespace Ipc;

internal static partial class SharedMemoryWait
{
    /// <summary>Tells the processor that this is a spin loop: once, the runtime makes the processor's own instruction of it.</summary>
    public static void Relax() => Thread.SpinWait(1);

    /// <summary>Does nothing: these runtimes have no such hint.</summary>
    public static unsafe void FetchToRead(byte* first, int bytes)
    {
    }

    /// <summary>Does nothing, as <see cref="FetchToRead"/>.</summary>
    public static unsafe void FetchLineToRead(byte* line)
    {
    }
}
