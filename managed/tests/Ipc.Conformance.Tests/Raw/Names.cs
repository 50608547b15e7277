using System.Globalization;
using System.Runtime.InteropServices;

namespace Ipc.Conformance.Raw;

/// <summary>Where docs/wire-formats.md says that names stand in the file system.</summary>
internal static partial class Names
{
    public static string TemporaryFolder { get; } = Environment.GetEnvironmentVariable("TMPDIR") is { Length: > 0 } folder ? folder : "/tmp";

    public static string PrivateFolder { get; } = $"/tmp/ipc-{UserId().ToString(CultureInfo.InvariantCulture)}";

    /// <summary>Where foreign libraries keep their shared memory.</summary>
    private const string SharedMemoryFolder = "/dev/shm";

    /// <summary>The path a transport uses for a name.</summary>
    public static string PathOf(string transport, string name) => transport switch
    {
        "pipe" => Path.Combine(TemporaryFolder, $"CoreFxPipe_{name}"),
        "shm-event" => Path.Combine(PrivateFolder, $"event-{name}"),
        _ => Path.Combine(PrivateFolder, $"{transport}-{name}"),
    };

    /// <summary>Makes the private folder if this is the first program of the user to need it.</summary>
    public static void MakePrivateFolder() =>
        Directory.CreateDirectory(PrivateFolder, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);

    /// <summary>Everything in the file system that carries this name. Names of cases are counted, so the next character
    /// must not be a digit.</summary>
    public static IReadOnlyList<string> Left(string name) =>
        [.. new[] { TemporaryFolder, PrivateFolder, SharedMemoryFolder }
            .Where(Directory.Exists)
            .SelectMany(folder => Directory.EnumerateFileSystemEntries(folder, $"*{name}*"))
            .Where(path => !char.IsAsciiDigit(path.ElementAtOrDefault(path.IndexOf(name, StringComparison.Ordinal) + name.Length)))];

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint UserId();
}
