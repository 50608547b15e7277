using System.Runtime.InteropServices;

namespace Ipc.Native;

// How .NET Framework, Mono and versions of .NET before 10 are told which library NativeMethods means.
internal static partial class NativeLibraryLoader
{
    private static void Bind(nint library) => NativeLibrary.Name(NativeMethods.Library, library);

    /// <summary>Nobody brings this runtime into a native process here.</summary>
    private static bool TryFindLoaded(out nint library)
    {
        library = 0;
        return false;
    }

    private static nint LoadBeside()
    {
        var assembly = typeof(NativeLibraryLoader).Assembly;
        if (NativeLibrary.IsOfDotNet)
            return NativeLibrary.Load(NativeMethods.Library, assembly, DllImportSearchPath.AssemblyDirectory);
        var path = Path.Combine(Path.GetDirectoryName(assembly.Location) ?? "", FileName);
        return File.Exists(path) ? NativeLibrary.Load(path) : 0;
    }

    private static bool IsFullPath(string path) => OperatingSystem.IsWindows()
        ? path.Length > 2 && (path[1] == ':' ? path[2] is '\\' or '/' : path.StartsWith(@"\\", StringComparison.Ordinal))
        : path.StartsWith('/');

    private static bool IsWritableByOthers(DirectoryInfo folder) =>
        !Libc.GetStatus(folder.FullName, out var status) || (status.Kind == Libc.S_IFDIR && (status.Mode & Libc.S_IWOTH) != 0);
}
