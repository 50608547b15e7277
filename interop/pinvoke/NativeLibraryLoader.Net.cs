using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc.Native;

// How .NET is told which library NativeMethods means.
internal static partial class NativeLibraryLoader
{
    private static void Bind(nint library) =>
        NativeLibrary.SetDllImportResolver(typeof(NativeLibraryLoader).Assembly, (name, _, _) => name == NativeMethods.Library ? library : 0);

    private static bool TryLoadBeside(out nint library) =>
        NativeLibrary.TryLoad(NativeMethods.Library, typeof(NativeLibraryLoader).Assembly, DllImportSearchPath.AssemblyDirectory, out library);

    private static bool IsFullPath(string path) => Path.IsPathFullyQualified(path);

    [UnsupportedOSPlatform("windows")]
    private static bool IsWritableByOthers(DirectoryInfo folder) => folder.UnixFileMode.HasFlag(UnixFileMode.OtherWrite);
}
