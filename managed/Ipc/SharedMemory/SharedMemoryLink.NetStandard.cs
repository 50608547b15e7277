namespace Ipc;

internal sealed partial class SharedMemoryLink
{
    // Tells the processor that this is a spin loop: once, the runtime makes the processor's own instruction of it.
    internal static void Relax() => Thread.SpinWait(1);
}
