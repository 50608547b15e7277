using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc.Native;

// How .NET is told which library NativeMethods means.
internal static partial class NativeLibraryLoader
{
    private static void Bind(nint library) =>
        NativeLibrary.SetDllImportResolver(typeof(NativeLibraryLoader).Assembly, (name, _, _) => name == NativeMethods.Library ? library : 0);

    /// <summary>The library that the program itself was linked with or, on Windows, that is in the process under its name.</summary>
    private static bool TryFindLoaded(out nint library)
    {
        library = OperatingSystem.IsWindows() ? GetModuleHandle(FileName) : NativeLibrary.GetMainProgramHandle();
        return library != 0 && NativeLibrary.TryGetExport(library, "ipc_abi_version", out _);
    }

    [LibraryImport("kernel32", EntryPoint = "GetModuleHandleW", StringMarshalling = StringMarshalling.Utf16)]
    [SupportedOSPlatform("windows")]
    private static partial nint GetModuleHandle(string name);

    /// <param name="library">The library, or 0.</param>
    /// <param name="whyNot">Why it does not load; empty where there is none.</param>
    private static bool TryLoadBeside(out nint library, out string whyNot)
    {
        (library, whyNot) = (0, "");
        try
        {
            library = NativeLibrary.Load(NativeMethods.Library, typeof(NativeLibraryLoader).Assembly, DllImportSearchPath.AssemblyDirectory);
        }
        catch (BadImageFormatException e)
        {
            whyNot = e.Message;
        }
        catch (DllNotFoundException e)
        {
            // On Linux the message's further lines are what the system said of each path that was tried. Most say that nothing lies there.
            whyNot = string.Join("; ", e.Message.Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).Skip(1).Where(line => !IsAbsence(line)));
        }
        return library != 0;

        // The file itself, not one that it needs.
        static bool IsAbsence(string line) =>
            line.Contains("No such file or directory", StringComparison.Ordinal) && line.Contains(NativeMethods.Library, StringComparison.Ordinal)
                && !line.Contains("needed by", StringComparison.Ordinal);
    }

    private static bool IsFullPath(string path) => Path.IsPathFullyQualified(path);

    [UnsupportedOSPlatform("windows")]
    private static bool IsWritableByOthers(DirectoryInfo folder) => folder.UnixFileMode.HasFlag(UnixFileMode.OtherWrite);
}
