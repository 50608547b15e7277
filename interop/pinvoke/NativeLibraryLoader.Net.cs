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

    private static nint LoadBeside() =>
        NativeLibrary.Load(NativeMethods.Library, typeof(NativeLibraryLoader).Assembly, DllImportSearchPath.AssemblyDirectory);

    private static bool IsFullPath(string path) => Path.IsPathFullyQualified(path);

    [UnsupportedOSPlatform("windows")]
    private static bool IsWritableByOthers(DirectoryInfo folder) => folder.UnixFileMode.HasFlag(UnixFileMode.OtherWrite);
}
