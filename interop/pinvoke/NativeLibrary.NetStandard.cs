using System.ComponentModel;
using System.Runtime.InteropServices;

namespace Ipc.Native;

/// <summary>Loading a native library by its full path, with what .NET calls it.</summary>
internal static partial class NativeLibrary
{
    private const int BindNow = 2;
    private const uint SearchItsOwnFolder = 8; // LOAD_WITH_ALTERED_SEARCH_PATH

    private static readonly Dictionary<nint, string> s_paths = [];

    /// <summary>Throws <see cref="DllNotFoundException"/> with the system's reason.</summary>
    public static nint Load(string path)
    {
        if (TryLoad(path, out var library))
            return library;
        var why = OperatingSystem.IsWindows() ? new Win32Exception().Message : Marshal.PtrToStringAnsi(Error());
        throw new DllNotFoundException(why);
    }

    public static bool TryLoad(string path, out nint library)
    {
        library = OperatingSystem.IsWindows() ? LoadOnWindows(path, 0, SearchItsOwnFolder) : Open(path, BindNow);
        if (library != 0)
            s_paths[library] = path;
        return library != 0;
    }

    public static bool TryGetExport(nint library, string name, out nint function)
    {
        function = OperatingSystem.IsWindows() ? FindOnWindows(library, name) : Find(library, name);
        return function != 0;
    }

    /// <summary>From now on imports from this name come from the loaded library. Windows finds a loaded library by its file's name
    /// by itself; Mono would look beside the assembly first, so it is told.</summary>
    public static void Name(string name, nint library)
    {
        if (!OperatingSystem.IsWindows())
            MapOnMono(0, name, null, s_paths[library], null);
    }

    [LibraryImport("libdl.so.2", EntryPoint = "dlopen")]
    private static partial nint Open(string path, int flags);
    [LibraryImport("libdl.so.2", EntryPoint = "dlsym")]
    private static partial nint Find(nint library, string name);
    [LibraryImport("libdl.so.2", EntryPoint = "dlerror")]
    private static partial nint Error();

    [DllImport("kernel32", EntryPoint = "LoadLibraryExW", CharSet = CharSet.Unicode, ExactSpelling = true, SetLastError = true)]
    private static extern nint LoadOnWindows(string path, nint file, uint flags);
    [LibraryImport("kernel32", EntryPoint = "GetProcAddress")]
    private static partial nint FindOnWindows(nint library, string name);

    // Mono's embedding interface, in the program mono itself.
    [LibraryImport("__Internal", EntryPoint = "mono_dllmap_insert")]
    private static partial void MapOnMono(nint image, string name, string? function, string toLibrary, string? toFunction);
}
