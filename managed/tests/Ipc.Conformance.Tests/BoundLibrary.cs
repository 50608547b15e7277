using Ipc.Conformance.Puppets;

namespace Ipc.Conformance;

/// <summary>Points the bound side of this very process to the library under test.</summary>
internal static class BoundLibrary
{
    public static void Choose() => Environment.SetEnvironmentVariable("IPC_LIBRARY", PuppetProgram.NativeLibrary);
}
