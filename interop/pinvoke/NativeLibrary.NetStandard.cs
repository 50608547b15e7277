using System.ComponentModel;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Ipc.Native;

/// <summary>Loading a native library, with what .NET calls it. On .NET Framework and Mono the system does it; on .NET (a program for .NET 8, for example,
/// takes this assembly) its own class of this name, which netstandard2.0 does not know.</summary>
internal static partial class NativeLibrary
{
    private const int BindNow = 2;
    private const uint SearchItsOwnFolder = 8; // LOAD_WITH_ALTERED_SEARCH_PATH

    private static readonly Type? s_ofDotNet = typeof(object).Assembly.GetType("System.Runtime.InteropServices.NativeLibrary");
    private static readonly Dictionary<nint, string> s_paths = [];

    public static bool IsOfDotNet => s_ofDotNet is not null;

    /// <summary>As .NET looks for the libraries of an assembly, beside it and where its package has them. Only on .NET.</summary>
    public static nint Load(string name, Assembly assembly, DllImportSearchPath? searchPath) =>
        ((Func<string, Assembly, DllImportSearchPath?, nint>)s_ofDotNet!
            .GetMethod(nameof(Load), [typeof(string), typeof(Assembly), typeof(DllImportSearchPath?)])!
            .CreateDelegate(typeof(Func<string, Assembly, DllImportSearchPath?, nint>)))(name, assembly, searchPath);

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

    /// <summary>From now on imports from this name come from the loaded library. On .NET Framework Windows finds a loaded library by its file's name by
    /// itself; .NET and Mono would look beside the assembly first, so they are told.</summary>
    public static void Name(string name, nint library)
    {
        if (s_ofDotNet is not null)
        {
            var resolver = Delegate.CreateDelegate(s_ofDotNet.Assembly.GetType("System.Runtime.InteropServices.DllImportResolver", throwOnError: true)!,
                new Named(name, library), nameof(Named.Resolve));
            s_ofDotNet.GetMethod("SetDllImportResolver")!.Invoke(null, [typeof(NativeLibrary).Assembly, resolver]);
        }
        else if (!OperatingSystem.IsWindows())
        {
            MapOnMono(0, name, null, s_paths[library], null);
        }
    }

    private sealed class Named(string name, nint library)
    {
        public nint Resolve(string wanted, Assembly assembly, DllImportSearchPath? searchPath) => wanted == name ? library : 0;
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
