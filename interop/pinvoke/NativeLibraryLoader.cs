using System.Runtime.InteropServices;

namespace Ipc.Native;

/// <summary>Finds, loads and checks the native library once per process.</summary>
/// <remarks>
/// In a native process that has brought .NET in, it is the library which that process has loaded: its channels are of that library. Else
/// looked for, in this order: the full path in the environment variable IPC_LIBRARY (nothing else is tried when it is set);
/// beside this assembly, where a package or a published program has it; build/release/lib of the source tree
/// this program was built in. Never the current folder, which may belong to somebody else.
/// </remarks>
internal static partial class NativeLibraryLoader
{
    public const string PathVariable = "IPC_LIBRARY";

    // ABI 1.1 is what NativeMethods declares: a library with the same major part and at least this minor part has it all.
    private const uint AbiMajor = 1;
    private const uint AbiMinor = 1;

    private static readonly Lazy<Outcome> s_outcome = new(Load);

    private sealed record Outcome(nint Library, string Failure);

    private static string FileName => OperatingSystem.IsWindows() ? "libipc.dll" : "libipc.so";

    /// <summary>Returns when the library is loaded and fits; throws <see cref="IpcStatus.NotAvailable"/> with the reason otherwise.
    /// Every way to a handle passes here first.</summary>
    public static void Require()
    {
        var outcome = s_outcome.Value;
        if (outcome.Failure.Length > 0)
            throw new IpcException(IpcStatus.NotAvailable, outcome.Failure);
    }

    private static Outcome Load()
    {
        var outcome = Open();
        if (outcome.Failure.Length > 0)
            return outcome;
        Bind(outcome.Library);
        return outcome with { Failure = VersionFailure(outcome.Library) };
    }

    private static Outcome Open()
    {
        if (TryFindLoaded(out var loaded))
            return new Outcome(loaded, "");
        var given = Environment.GetEnvironmentVariable(PathVariable);
        if (!string.IsNullOrEmpty(given))
            return OpenGiven(given);
        if (TryLoadBeside(out var beside, out var whyNot))
            return new Outcome(beside, "");
        var built = BuiltLibrary();
        if (built is not null && NativeLibrary.TryLoad(built, out var developers))
            return new Outcome(developers, "");
        return new Outcome(0, whyNot.Length == 0
            ? $"the native library {FileName} was not found: put it into {AppContext.BaseDirectory} or its full path into {PathVariable}, "
                + "or use ManagedIpc, which needs none"
            : $"the native library {FileName} does not load on this system ({whyNot}): build it here and put its full path into {PathVariable}, "
                + "or use ManagedIpc, which needs none");
    }

    /// <param name="library">The library, or 0.</param>
    /// <param name="whyNot">Why it does not load; empty where there is none.</param>
    private static bool TryLoadBeside(out nint library, out string whyNot)
    {
        (library, whyNot) = (0, "");
        try
        {
            library = LoadBeside();
        }
        catch (BadImageFormatException e)
        {
            whyNot = e.Message;
        }
        catch (DllNotFoundException e)
        {
            whyNot = string.Join("; ", e.Message.Split('\n').Select(line => line.Trim()).Where(IsReason));
        }
        return library != 0;

        // On Linux .NET's message has a line for each path it has tried, after one that is always the same. That nothing lies there is no reason; that a
        // library which ours needs is missing is one.
        static bool IsReason(string line) => line.Length > 0 && !line.StartsWith("Unable to load", StringComparison.Ordinal)
            && !(line.Contains("No such file or directory") && line.Contains(NativeMethods.Library) && !line.Contains("needed by"));
    }

    private static Outcome OpenGiven(string path)
    {
        if (!IsFullPath(path))
            return new Outcome(0, $"{PathVariable} is '{path}': give it the full path of {FileName}");
        try
        {
            return new Outcome(NativeLibrary.Load(path), "");
        }
        catch (Exception e) when (e is DllNotFoundException or BadImageFormatException)
        {
            return new Outcome(0, $"{PathVariable} names '{path}', which does not load: correct the path or unset it ({e.Message})");
        }
    }

    /// <summary>The release build of the source tree around this program, or null. The way up ends at the first folder that
    /// other users may write into (such as /tmp): what stands there may be theirs.</summary>
    private static string? BuiltLibrary()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (!OperatingSystem.IsWindows() && IsWritableByOthers(folder))
                return null;
            if (!File.Exists(Path.Combine(folder.FullName, "native", "include", "ipc", "ipc.h")))
                continue;
            var library = Path.Combine(folder.FullName, "build", "release", "lib", FileName);
            return File.Exists(library) ? library : null;
        }
        return null;
    }

    private static unsafe string VersionFailure(nint library)
    {
        if (!NativeLibrary.TryGetExport(library, "ipc_abi_version", out var function))
            return $"the library loaded as {FileName} has no ipc_abi_version, so it is another library of that name: put ours in its place";
        var version = ((delegate* unmanaged[Cdecl]<uint>)function)();
        var (major, minor) = (version >> 16, version & 0xFFFF);
        return major == AbiMajor && minor >= AbiMinor
            ? ""
            : $"the native library has ABI {major}.{minor} and this assembly needs {AbiMajor}.{AbiMinor}: install both from one release";
    }
}
