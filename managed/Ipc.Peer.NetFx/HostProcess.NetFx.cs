namespace Ipc.Peer;

/// <summary>This runtime is not brought into native processes here.</summary>
internal static class HostProcess
{
    public const string Side = "hosted";

    public static bool IsHere => false;

    public static bool Plays(string scenario) => false;

    public static (long Operations, long Allocated) Serve(Service service, Control control, Func<long, bool> isLast) => throw new NotSupportedException();
}
