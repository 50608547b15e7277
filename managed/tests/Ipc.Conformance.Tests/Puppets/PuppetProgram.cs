using System.Diagnostics;

namespace Ipc.Conformance.Puppets;

/// <summary>Where the puppets' programs and the native library are.</summary>
internal static class PuppetProgram
{
    /// <summary>The CMake build folder to test, when it is not the release build (under Wine the mingw one) of the source tree around the tests.</summary>
    public const string BuildVariable = "IPC_NATIVE_BUILD";

    private static readonly Lazy<string> s_root = new(FindRoot);

    public static string NativeLibrary => PuppetSystem.IsWine ? Path.Combine(Build, "bin", "libipc.dll") : Path.Combine(Build, "lib", "libipc.so");

    private static string Build => Environment.GetEnvironmentVariable(BuildVariable) is { Length: > 0 } given
        ? given
        : Path.Combine(s_root.Value, "build", PuppetSystem.IsWine ? "windows-mingw" : "release");

    /// <summary>Wine's prefix, as scripts/wine.sh chooses it.</summary>
    public static string WinePrefix =>
        Environment.GetEnvironmentVariable("WINEPREFIX") is { Length: > 0 } given ? given : Path.Combine(s_root.Value, "build", "wine");

    // Compiled ahead; beside the tests lies its assembly alone.
    private static string Managed { get; } = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../Ipc.Puppet",
        Path.GetFileName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory)), "Ipc.Puppet.dll"));

    /// <summary>The puppet that Mono runs; it is there wherever Mono's reference assemblies were when the tests were built.</summary>
    public static string NetFx { get; } = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../Ipc.Puppet.NetFx/release/ipc-puppet-netfx.exe"));

    /// <param name="side">What it plays.</param>
    /// <param name="copy">Where a copy of the puppet for .NET or Mono lies, to be run instead.</param>
    public static ProcessStartInfo Of(string side, string? copy = null)
    {
        var start = Program(side);
        if (copy is not null)
            start.ArgumentList[0] = Path.Combine(copy, Path.GetFileName(start.ArgumentList[0]));
        // Only the bound side may know where the native library is.
        start.Environment.Remove("IPC_LIBRARY");
        // A .NET process opens pipes for debuggers in /tmp, which one that is killed leaves there.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        // The thread that compiles hot methods again ends after four idle seconds, and .NET ends a process that has no descriptor left when it
        // starts the next one: here it stays. In hexadecimal milliseconds.
        start.Environment["DOTNET_TC_BackgroundWorkerTimeoutMs"] = "7fffffff";
        if (side is "bound" or "bound-netfx")
            start.Environment["IPC_LIBRARY"] = PuppetSystem.PathFor(Existing(NativeLibrary));
        return start;
    }

    private static ProcessStartInfo Program(string side)
    {
        if (PuppetSystem.IsWine)
        {
            var wine = Path.Combine(s_root.Value, "scripts", "wine.sh");
            return side switch
            {
                "native" => new ProcessStartInfo(wine, [Existing(Path.Combine(Build, "bin", "ipc-test-puppet.exe"))]),
                "hosted" => new ProcessStartInfo(wine,
                    [Existing(NativeHost), .. HostedPuppet(PuppetSystem.PathFor(Path.ChangeExtension(Published(), ".dll")))]),
                ThirtyTwoBits.Side => new ProcessStartInfo(wine, [Puppet32("windows-mingw-x86", ".exe", "g++-mingw-w64-i686-posix")]),
                _ => new ProcessStartInfo(wine, [Published(), "--side", side]),
            };
        }
        if (side == ThirtyTwoBits.Side)
            return new ProcessStartInfo(Puppet32("linux-x86", "", "g++-multilib"));
        if (side == "native")
            return new ProcessStartInfo(Existing(Path.Combine(Build, "bin", "ipc-test-puppet")));
        if (side == "hosted")
            return new ProcessStartInfo(Existing(NativeHost), HostedPuppet(Managed));
        if (side.EndsWith("-netfx", StringComparison.Ordinal))
            return new ProcessStartInfo("mono", [Existing(NetFx), "--side", side]);
        var host = Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";
        return new ProcessStartInfo(host, [Managed, "--side", side]);
    }

    /// <summary>The native process that .NET code is brought into (interop/hosting/host).</summary>
    public static string NativeHost => Path.Combine(Build, "bin", PuppetSystem.IsWine ? "ipc-hosted.exe" : "ipc-hosted");

    private static string[] HostedPuppet(string assembly) => [assembly, "Ipc.Puppet.HostedPuppet", "Play"];

    private static string Puppet32(string preset, string ending, string compiler)
    {
        var path = Path.Combine(s_root.Value, "build", preset, "bin", "ipc-test-puppet" + ending);
        return File.Exists(path) ? path : throw new FileNotFoundException(
            $"{path} is missing: build it first (cmake --preset {preset} && cmake --build --preset {preset}; Debian's package {compiler} has the compiler)");
    }

    private static string Published()
    {
        var path = Path.Combine(s_root.Value, "artifacts", "windows", "Ipc.Puppet", "Ipc.Puppet.exe");
        return File.Exists(path)
            ? path
            : throw new FileNotFoundException($"{path} is missing: publish the managed programs for Windows first (scripts/windows-build.sh)");
    }

    private static string Existing(string path) => File.Exists(path)
        ? path
        : throw new FileNotFoundException(
            $"{path} is missing: build the native part first (cmake --preset release && cmake --build --preset release; for Wine "
                + $"scripts/windows-build.sh), or name its build folder in {BuildVariable}");

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "registry.json")))
                return folder.FullName;
        }
        throw new DirectoryNotFoundException($"no source tree around {AppContext.BaseDirectory}: run the tests where they were built");
    }
}
