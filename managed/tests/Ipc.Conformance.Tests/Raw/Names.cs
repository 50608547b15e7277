using System.Globalization;
using System.Runtime.InteropServices;
using Ipc.Conformance.Puppets;

namespace Ipc.Conformance.Raw;

/// <summary>Where docs/wire-formats.md says that names stand in the file system.</summary>
internal static partial class Names
{
    public static string TemporaryFolder { get; } = Environment.GetEnvironmentVariable("TMPDIR") is { Length: > 0 } folder ? folder : "/tmp";

    public static string PrivateFolder { get; } = UserFolder("/tmp");

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
        [.. (PuppetSystem.IsWine ? WineFolders() : [TemporaryFolder, PrivateFolder, SharedMemoryFolder])
            .Where(Directory.Exists)
            .SelectMany(folder => Directory.EnumerateFileSystemEntries(folder, $"*{name}*"))
            .Where(path => !char.IsAsciiDigit(path.ElementAtOrDefault(path.IndexOf(name, StringComparison.Ordinal) + name.Length)))];

    // Windows' pipes, mailslots and sections end with their processes; what outlives them stands below the user's application data.
    private static string[] WineFolders() =>
        Environment.GetEnvironmentVariable("WINEPREFIX") is { Length: > 0 } prefix
            ? Directory.GetDirectories(Path.Combine(prefix, "drive_c", "users"), "ipc*",
                new EnumerationOptions { RecurseSubdirectories = true, AttributesToSkip = FileAttributes.ReparsePoint })
            : throw new InvalidOperationException("WINEPREFIX is not set: start the suite by scripts/test-windows.sh");

    private static string UserFolder(string shared)
    {
        var user = UserId().ToString(CultureInfo.InvariantCulture);
        string?[] runtime = [Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR"), $"/run/user/{user}"];
        // Tests run as the folder's owner: what is written in the variable is taken to be theirs.
        return runtime.FirstOrDefault(Directory.Exists) is { } folder ? $"{folder.TrimEnd('/')}/ipc" : $"{shared}/ipc-{user}";
    }

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint UserId();
}
