using System.Runtime.InteropServices;

namespace Ipc.Lab.Machine;

/// <summary>Tells Wine from Windows: Wine proves behaviour, not speed, and every figure must say so.</summary>
internal static class WineVersion
{
    /// <summary>What every report of a run under Wine says first.</summary>
    public static string Label(string wine) =>
        $"{wine}: these figures show that everything works, not how fast it is; never rank them with figures of Linux or of Windows";

    /// <summary>"Wine 8.0", or null on a real system.</summary>
    public static unsafe string? Find()
    {
        // Wine's own ntdll has this function; that of Windows has not.
        if (!OperatingSystem.IsWindows()
            || !NativeLibrary.TryLoad("ntdll.dll", out var library)
            || !NativeLibrary.TryGetExport(library, "wine_get_version", out var function))
            return null;
        return $"Wine {Marshal.PtrToStringUTF8(((delegate* unmanaged[Cdecl]<nint>)function)())}";
    }
}
