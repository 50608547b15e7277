using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>What the runtime tells of itself.</summary>
internal static class RuntimeFacts
{
    /// <summary>What the ids of this program's sides end in.</summary>
    public static string SideSuffix => "-netfx";

    public const string ProgramName = "ipc-peer-netfx";

    // Mono calls itself so in a method of a type that only it has.
    private static readonly MethodInfo? s_monoName =
        Type.GetType("Mono.Runtime")?.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);

    public static string Name => s_monoName is null ? RuntimeInformation.FrameworkDescription : $"Mono {s_monoName.Invoke(null, null)}";

    /// <summary>Methods compiled so far; a constant where the runtime does not tell.</summary>
    public static long CompiledMethods => 0;

    /// <summary>The same for those who only report it; null where the runtime does not tell.</summary>
    public static long? CompiledMethodsTold => null;

    /// <summary>Nothing is compiled twice here, and nothing is set.</summary>
    public static IReadOnlyDictionary<string, string> Settings() => new Dictionary<string, string>();

    /// <summary>Bytes allocated so far by all threads; null where the runtime does not tell.</summary>
    public static long? AllocatedBytes => null;

    /// <summary>The same of the calling thread; 0 where the runtime does not tell.</summary>
    public static long AllocatedBytesOfThread => 0;

    /// <summary>Processor time of the process, user and system.</summary>
    public static long CpuNs => Process.GetCurrentProcess().TotalProcessorTime.Ticks * 100;

    /// <summary>How Main returns: not at all. On Mono a Main that returns while WCF closes its last session sometimes waits for a thread of the
    /// pool as if it were a foreground thread, docs/wcf.md.</summary>
    public static int End(int exitCode)
    {
        Environment.Exit(exitCode);
        return exitCode;
    }
}
