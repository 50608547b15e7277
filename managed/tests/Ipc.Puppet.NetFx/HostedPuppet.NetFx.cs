namespace Ipc.Puppet;

/// <summary>This runtime is not brought into native processes here.</summary>
internal static class HostedPuppet
{
    public static bool IsHere => false;

    public static void Serve(IpcChannel channel, string handler) => throw new NotSupportedException();
}
