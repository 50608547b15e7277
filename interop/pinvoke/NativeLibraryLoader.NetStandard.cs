namespace Ipc.Native;

// How .NET Framework and Mono are told which library NativeMethods means.
internal static partial class NativeLibraryLoader
{
    private static void Bind(nint library) => NativeLibrary.Name(NativeMethods.Library, library);

    /// <summary>Nobody brings this runtime into a native process here.</summary>
    private static bool TryFindLoaded(out nint library)
    {
        library = 0;
        return false;
    }

    /// <param name="library">The library, or 0.</param>
    /// <param name="whyNot">Why it does not load; empty where there is none.</param>
    private static bool TryLoadBeside(out nint library, out string whyNot)
    {
        (library, whyNot) = (0, "");
        var path = Path.Combine(Path.GetDirectoryName(typeof(NativeLibraryLoader).Assembly.Location) ?? "", FileName);
        if (!File.Exists(path))
            return false;
        try
        {
            library = NativeLibrary.Load(path);
        }
        catch (DllNotFoundException e)
        {
            whyNot = e.Message;
        }
        return library != 0;
    }

    private static bool IsFullPath(string path) => OperatingSystem.IsWindows()
        ? path.Length > 2 && (path[1] == ':' ? path[2] is '\\' or '/' : path.StartsWith(@"\\", StringComparison.Ordinal))
        : path.StartsWith('/');

    private static bool IsWritableByOthers(DirectoryInfo folder) =>
        !Libc.GetStatus(folder.FullName, out var status) || (status.Kind == Libc.S_IFDIR && (status.Mode & Libc.S_IWOTH) != 0);
}
