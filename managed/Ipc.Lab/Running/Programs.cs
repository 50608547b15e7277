using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.Versioning;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Running;

/// <summary>Finds the programs a run needs: below the repository root, in what the tool's package carries, or where environment variables say.</summary>
internal sealed class Programs(string? root, Func<string, string?> environment, IReadOnlyList<ForeignPeer>? foreign = null)
{
    private const string NativeName = "ipc-peer";
    private const string NativeVariable = "IPC_NATIVE_PEER";
    private const string ManagedName = "ipc-peer-managed";
    private const string ManagedVariable = "IPC_MANAGED_PEER";
    private const string NetFxName = "ipc-peer-netfx";
    private const string NetFxVariable = "IPC_NETFX_PEER";
    private const string AotVariable = "IPC_AOT_PEER";
    private const string X86Variable = "IPC_X86_PEER";
    private const string FloorsVariable = "IPC_FLOORS";
    private const string NoMono = "sides of runtime netfx need Mono here, and there is none in the PATH: install mono-runtime (Debian's name; "
        + "scripts/bootstrap.sh does it)";

    // scripts/pack.sh puts the programs into the tool's package under the paths that they have in a built tree.
    private static readonly string s_carried = Path.Combine(AppContext.BaseDirectory, "programs");

    private bool? _startsX86;

    private string HowToBuild => root == s_carried
        ? "this package of the lab carries programs for Linux on x64 only: measure from a built source tree"
        : "build it with `dotnet build ipc.sln -c Release`";

    // Which no solution builds.
    private const string HowToBuildAot = "build it with scripts/native-aot.sh";
    private const string HowToBuildX86 = "build it with `scripts/native.sh linux-x86`";

    /// <summary>Those that the package of the tool carries, or else of the tree the lab was built in.</summary>
    /// <param name="foreign">Peers of somebody else's, each a side by its name.</param>
    public static Programs OfThisTree(IReadOnlyList<ForeignPeer>? foreign = null) =>
        new(Directory.Exists(s_carried) ? s_carried : RepositoryRoot.Find(), Environment.GetEnvironmentVariable, foreign);

    /// <summary>Those of another checkout, built: its own files and nothing that variables name.</summary>
    public static Programs OfTree(string root, IReadOnlyList<ForeignPeer>? foreign) =>
        new(Path.GetFullPath(root), name => name == "PATH" ? Environment.GetEnvironmentVariable(name) : null, foreign);

    /// <summary>Whether somebody else's peer plays the side.</summary>
    public bool IsForeign(string side) => foreign?.Any(p => p.Side == side) == true;

    /// <summary>The peer program that plays a side.</summary>
    public ProgramFile Peer(string side) => foreign?.FirstOrDefault(p => p.Side == side) is { } other
        ? Foreign(other)
        : side == "native"
        ? NativePeer()
        : RuntimeOf(side) switch
        {
            "netfx" => NetFxPeer(),
            "hostfxr" => HostedPeer(),
            "aot" => AotPeer(),
            "x86" => X86Peer(),
            _ => ManagedPeer(),
        };

    public ProgramFile NativePeer() => Native("native peer", NativeVariable, NativePath());

    public ProgramFile Floors() => Native("floors program", FloorsVariable, PathOf(FloorsVariable, $"build/release/bin/{Executable("ipc-floors")}"));

    public ProgramFile ManagedPeer()
    {
        var path = ManagedPath();
        MustExist("managed peer", path, ManagedVariable);
        return path.EndsWith(".dll", StringComparison.OrdinalIgnoreCase)
            ? new ProgramFile("managed peer", path, [DotnetHost(), "exec", path], CodeBeside(path))
            : new ProgramFile("managed peer", path, [path], CodeBeside(path));
    }

    /// <summary>The same program for .NET Framework; off Windows Mono runs it.</summary>
    public ProgramFile NetFxPeer()
    {
        var path = NetFxPath();
        MustExist("peer for .NET Framework", path, NetFxVariable);
        if (OperatingSystem.IsWindows())
            return new ProgramFile(NetFxName, path, [path], [path, .. CodeBeside(path)]);
        var mono = Mono() ?? throw new UserMistakeException(NoMono);
        return new ProgramFile(NetFxName, path, [mono, path], [path, .. CodeBeside(path)]);
    }

    /// <summary>The managed peer inside a native process.</summary>
    public ProgramFile HostedPeer()
    {
        var (host, code) = (HostPath(), HostedCode());
        MustExist("host of .NET code", host, NativeVariable);
        MustExist("managed peer", code, ManagedVariable);
        return new ProgramFile("hosted peer", host, [host, code, "Ipc.Peer.HostProcess", "Play"],
            [host, .. LibraryIn(Path.Combine(host, LibraryFromProgram)), .. AssembliesBeside(code)]);
    }

    /// <summary>The managed peer compiled ahead of time: a program that needs nothing beside it.</summary>
    public ProgramFile AotPeer()
    {
        var path = AotPath();
        MustExist("peer compiled ahead of time", path, AotVariable, HowToBuildAot);
        return new ProgramFile("ahead-of-time peer", path, [path], [path]);
    }

    /// <summary>The native peer as a 32-bit process.</summary>
    public ProgramFile X86Peer() => Native("32-bit native peer", X86Variable, X86Path(), HowToBuildX86);

    /// <summary>An error message saying why no program can play this side here, or null. Only of the sides that need what not every machine has.</summary>
    public string? WhyCannotPlay(string side)
    {
        var runtime = RuntimeOf(side);
        if (runtime == "hostfxr")
        {
            return File.Exists(HostPath()) ? null
                : $"the program '{HostPath()}', which brings .NET into a native process, is not there: {HowToBuild}; without the host pack of the "
                    + ".NET SDK the build leaves it out";
        }
        if (runtime == "aot")
        {
            return File.Exists(AotPath()) ? null
                : $"the peer compiled ahead of time '{AotPath()}' is not there: {HowToBuildAot}, or name one with the environment variable {AotVariable}";
        }
        if (runtime == "x86")
        {
            return !File.Exists(X86Path())
                ? $"the 32-bit native peer '{X86Path()}' is not there: {HowToBuildX86}, or name one with the environment variable {X86Variable}"
                : CannotStartX86 ? $"the 32-bit native peer '{X86Path()}' does not start: this system runs no 32-bit programs" : null;
        }
        if (runtime != "netfx")
            return null;
        if (!OperatingSystem.IsWindows() && Mono() is null)
            return NoMono;
        var path = NetFxPath();
        return File.Exists(path)
            ? null
            : $"the peer for .NET Framework '{path}' is not there: {HowToBuild}; without Mono's reference assemblies (mono-devel) the build leaves it out";
    }

    /// <summary>Whether the 32-bit peer is there and the system does not start it.</summary>
    public bool CannotStartX86 => File.Exists(X86Path()) && !(_startsX86 ??= Starts(X86Path()));

    private static string? RuntimeOf(string side) => Choices.SideEntry(side)?.Runtime;

    private string AotPath() => PathOf(AotVariable, $"artifacts/bin/Ipc.Peer/aot/{Executable(ManagedName)}");

    private string NativePath() => PathOf(NativeVariable, $"build/release/bin/{Executable(NativeName)}");

    private string X86Path() => PathOf(X86Variable, $"build/linux-x86/bin/{Executable(NativeName)}");

    // Kernels may be built or confined so that only 64-bit programs run, and a Wine without its 32-bit half ends them at once with 0: one that says
    // what it is tells.
    private static bool Starts(string path)
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo(path, "--help") { RedirectStandardOutput = true })!;
            var help = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 && help.Length > 0;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }

    // Beside the native peer.
    private string HostPath() => Path.Combine(
        Path.GetDirectoryName(NativePath())!, Executable("ipc-hosted"));

    private string HostedCode() => Path.ChangeExtension(ManagedPath(), ".dll");

    private string ManagedPath() => Path.GetFullPath(environment(ManagedVariable) is { Length: > 0 } given ? given
        : FirstThatExists(Under($"artifacts/bin/Ipc.Peer/release/{Executable(ManagedName)}"), Under($"artifacts/bin/Ipc.Peer/release/{ManagedName}.dll")));

    private string NetFxPath() => PathOf(NetFxVariable, $"artifacts/bin/Ipc.Peer.NetFx/release/{NetFxName}.exe");

    // By its own name: installing Mono may let the system start .exe files by it, but then Windows programs of Wine, too.
    private string? Mono() => (environment("PATH") ?? "").Split(Path.PathSeparator)
        .Where(Path.IsPathFullyQualified).Select(folder => Path.Combine(folder, "mono")).FirstOrDefault(File.Exists);

    /// <summary>Where the native peer's library lies and its modules beside it; null while there is no such folder.</summary>
    public string? LibraryFolder()
    {
        var folder = Path.GetFullPath(Path.Combine(NativePath(), LibraryFromProgram));
        return LibraryIn(folder).Length > 0 ? folder : null;
    }

    /// <summary>Hashes of everything these programs consist of that the project builds, each file once.</summary>
    public static IReadOnlyList<BinaryHash> Hash(IEnumerable<ProgramFile> programs) =>
        [.. programs.DistinctBy(p => p.Path).SelectMany(p => p.HashedFiles).Distinct().Select(BinaryHash.Of)];

    // What the command names and can be found is hashed: the interpreter is not, its script is.
    private static ProgramFile Foreign(ForeignPeer peer)
    {
        var words = peer.Words();
        return new ProgramFile($"peer {peer.Side}", peer.Command, words, [.. words.Where(File.Exists).Select(Path.GetFullPath)]);
    }

    private ProgramFile Native(string name, string variable, string path, string? howToBuild = null)
    {
        MustExist(name, path, variable, howToBuild);
        if (root == s_carried && !OperatingSystem.IsWindows())
            MakeExecutable(path);
        return new ProgramFile(name, path, [path], [path, .. LibraryIn(Path.Combine(path, LibraryFromProgram))]);
    }

    // Packages know nothing of permissions. Who may not change them finds out when the program is started.
    [UnsupportedOSPlatform("windows")]
    private static void MakeExecutable(string path)
    {
        const UnixFileMode ForAll = UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;
        var mode = File.GetUnixFileMode(path);
        try
        {
            if ((mode & ForAll) != ForAll)
                File.SetUnixFileMode(path, mode | ForAll);
        }
        catch (UnauthorizedAccessException)
        {
        }
    }

    // The host next to a managed program is the same for every build; its code is in the assemblies and the library they load,
    // which Ipc.Native looks for in these places.
    private string[] CodeBeside(string path)
    {
        var folder = Path.GetDirectoryName(path)!;
        var assemblies = AssembliesBeside(path);
        string[] library = environment("IPC_LIBRARY") is { Length: > 0 } given && File.Exists(given) ? [given]
            : LibraryIn(folder) is { Length: > 0 } beside ? beside
            : LibraryIn(Under("build/release/lib"));
        return assemblies.Count > 0 ? [.. assemblies, .. library] : [path, .. library];
    }

    private static List<string> AssembliesBeside(string path) =>
        [.. Directory.EnumerateFiles(Path.GetDirectoryName(path)!, "*.dll")
            .Where(f => Path.GetFileName(f).StartsWith("ipc", StringComparison.OrdinalIgnoreCase)).Order(StringComparer.Ordinal)];

    private static string[] LibraryIn(string folder)
    {
        var library = Path.GetFullPath(Path.Combine(folder, OperatingSystem.IsWindows() ? "libipc.dll" : "libipc.so"));
        if (!File.Exists(library))
            return [];
        // Modules, transports over a foreign library, are part of it.
        return [library, .. Directory.EnumerateFiles(Path.GetDirectoryName(library)!, "libipc-*.so").Order(StringComparer.Ordinal)];
    }

    // Windows finds a program's libraries beside it.
    private static string LibraryFromProgram => OperatingSystem.IsWindows() ? ".." : "../../lib";

    // Where a variable says, or else below the root.
    private string PathOf(string variable, string relative) =>
        Path.GetFullPath(environment(variable) is { Length: > 0 } given ? given : Under(relative));

    private string Under(string relative) => Path.Combine(root ?? ".", relative);

    private static string FirstThatExists(string first, string second) => !File.Exists(first) && File.Exists(second) ? second : first;

    private static string Executable(string name) => OperatingSystem.IsWindows() ? name + ".exe" : name;

    private static string DotnetHost() =>
        Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") is { Length: > 0 } host ? host : "dotnet";

    private void MustExist(string name, string path, string variable, string? howToBuild = null)
    {
        if (!File.Exists(path))
            throw new UserMistakeException(
                $"the {name} '{path}' does not exist; {howToBuild ?? HowToBuild}, or name another with the environment variable {variable}");
    }
}
