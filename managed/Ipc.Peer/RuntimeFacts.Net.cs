using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>What the runtime tells of itself.</summary>
internal static class RuntimeFacts
{
    /// <summary>What the ids of this program's sides end in.</summary>
    public static string SideSuffix => IsAheadOfTime ? "-aot" : "";

    public const string ProgramName = "ipc-peer-managed";

    public static string Name => RuntimeInformation.FrameworkDescription + (IsAheadOfTime ? ", NativeAOT" : "");

    // The runtime's own word for it: nothing can be compiled while the program runs.
    private static bool IsAheadOfTime => !RuntimeFeature.IsDynamicCodeCompiled;

    /// <summary>Methods compiled so far; a constant where the runtime does not tell.</summary>
    public static long CompiledMethods => JitInfo.GetCompiledMethodCount();

    /// <summary>The same for those who only report it; null where the runtime does not tell.</summary>
    public static long? CompiledMethodsTold => CompiledMethods;

    /// <summary>What decides how and when the runtime compiles and collects: as configured, or as an environment variable says instead.</summary>
    public static IReadOnlyDictionary<string, string> Settings()
    {
        var settings = new Dictionary<string, string>
        {
            ["collector"] = $"{(GCSettings.IsServerGC ? "server" : "workstation")}, {GCSettings.LatencyMode}",
            ["ready_to_run"] = $"{JitInfo.GetCompiledMethodCount()} methods compiled when the cell came",
        };
        foreach (var name in (string[])["TieredCompilation", "TieredPGO", "TieredCompilation.QuickJit", "TieredCompilation.QuickJitForLoops",
            "TieredCompilation.BackgroundWorkerTimeoutMs", "TieredCompilation.CallCounting", "TieredCompilation.CallCountThreshold",
            "TieredCompilation.CallCountingDelayMs"])
        {
            settings[name] = AppContext.GetData($"System.Runtime.{name}")?.ToString() ?? "default";
        }
        foreach (System.Collections.DictionaryEntry variable in Environment.GetEnvironmentVariables())
        {
            if (variable.Key is string key
                && (key.StartsWith("DOTNET_Tiered", StringComparison.Ordinal) || key.StartsWith("DOTNET_TC_", StringComparison.Ordinal)
                || key.StartsWith("DOTNET_GC", StringComparison.Ordinal) || key == "DOTNET_ReadyToRun"))
                settings[key] = variable.Value?.ToString() ?? "";
        }
        return settings;
    }

    /// <summary>Bytes allocated so far by all threads; null where the runtime does not tell.</summary>
    public static long? AllocatedBytes => GC.GetTotalAllocatedBytes(precise: true);

    /// <summary>The same of the calling thread; 0 where the runtime does not tell.</summary>
    public static long AllocatedBytesOfThread => GC.GetAllocatedBytesForCurrentThread();

    /// <summary>Processor time of the process, user and system.</summary>
    public static long CpuNs => (long)Environment.CpuUsage.TotalTime.TotalNanoseconds;

    /// <summary>How Main returns.</summary>
    public static int End(int exitCode) => exitCode;
}
