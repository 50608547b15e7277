using System.Runtime;

namespace Ipc.Peer;

/// <summary>What the runtime tells of itself.</summary>
internal static class RuntimeFacts
{
    /// <summary>What the ids of this program's sides end in.</summary>
    public const string SideSuffix = "";

    public const string ProgramName = "ipc-peer-managed";

    public static string Name => System.Runtime.InteropServices.RuntimeInformation.FrameworkDescription;

    /// <summary>Methods compiled so far; a constant where the runtime does not tell.</summary>
    public static long CompiledMethods => JitInfo.GetCompiledMethodCount();

    /// <summary>Bytes allocated so far by all threads; null where the runtime does not tell.</summary>
    public static long? AllocatedBytes => GC.GetTotalAllocatedBytes(precise: true);

    /// <summary>The same of the calling thread; 0 where the runtime does not tell.</summary>
    public static long AllocatedBytesOfThread => GC.GetAllocatedBytesForCurrentThread();

    /// <summary>Processor time of the process, user and system.</summary>
    public static long CpuNs => (long)Environment.CpuUsage.TotalTime.TotalNanoseconds;

    /// <summary>How Main returns.</summary>
    public static int End(int exitCode) => exitCode;
}
