namespace Ipc;

/// <summary>What the registry calls this build of the library.</summary>
internal static class ManagedSide
{
    public const string Id = "managed";
}
