using System.Diagnostics;

namespace Ipc.Conformance.Puppets;

/// <summary>Where the puppets' programs and the native library are.</summary>
internal static class PuppetProgram
{
    /// <summary>The CMake build folder to test, when it is not build/release of the source tree around the tests.</summary>
    public const string BuildVariable = "IPC_NATIVE_BUILD";

    private static readonly Lazy<string> s_build = new(FindBuild);

    public static string NativeLibrary => Path.Combine(s_build.Value, "lib", "libipc.so");

    /// <summary>The puppet that Mono runs; it is there wherever Mono's reference assemblies were when the tests were built.</summary>
    public static string NetFx { get; } = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../Ipc.Puppet.NetFx/release/ipc-puppet-netfx.exe"));

    public static ProcessStartInfo Of(string side)
    {
        if (side == "native")
            return new ProcessStartInfo(Existing(Path.Combine(s_build.Value, "bin", "ipc-test-puppet")));
        var start = side.EndsWith("-netfx", StringComparison.Ordinal)
            ? new ProcessStartInfo("mono", [Existing(NetFx), "--side", side])
            : new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet",
                [Path.Combine(AppContext.BaseDirectory, "Ipc.Puppet.dll"), "--side", side]);
        // Only the bound side may know where the native library is.
        start.Environment.Remove("IPC_LIBRARY");
        if (side is "bound" or "bound-netfx")
            start.Environment["IPC_LIBRARY"] = Existing(NativeLibrary);
        return start;
    }

    private static string Existing(string path) => File.Exists(path)
        ? path
        : throw new FileNotFoundException(
            $"{path} is missing: build the native part first (cmake --preset release && cmake --build --preset release), or name its build folder in {BuildVariable}");

    private static string FindBuild()
    {
        if (Environment.GetEnvironmentVariable(BuildVariable) is { Length: > 0 } given)
            return given;
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "registry.json")))
                return Path.Combine(folder.FullName, "build", "release");
        }
        throw new DirectoryNotFoundException($"no source tree around {AppContext.BaseDirectory}: name the native build folder in {BuildVariable}");
    }
}
