namespace Ipc.Conformance.Puppets;

/// <summary>The system the puppets run on: this one, or Windows as Wine gives it. The suite itself always runs on Linux, where it can kill
/// a puppet, Windows' too, as the kernel's own process.</summary>
internal static class PuppetSystem
{
    /// <summary>Set to `wine` to have the Windows puppets played (scripts/test-windows.sh).</summary>
    public const string Variable = "IPC_PUPPETS";

    public static bool IsWine { get; } = Environment.GetEnvironmentVariable(Variable) switch
    {
        "wine" => true,
        null or "" => false,
        var other => throw new InvalidOperationException($"{Variable} is '{other}': set it to wine, or unset it"),
    };

    /// <summary>As the registry names it.</summary>
    public static string Platform => IsWine ? "windows" : "linux";

    /// <summary>Whether what a puppet's threads do can be seen.</summary>
    public static bool ShowsThreads => !IsWine;

    /// <summary>How a Windows program names a file of this machine.</summary>
    public static string PathFor(string path) => IsWine ? "Z:" + path.Replace('/', '\\') : path;
}
