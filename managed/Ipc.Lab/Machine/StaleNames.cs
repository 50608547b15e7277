using Ipc.Lab.Running;

namespace Ipc.Lab.Machine;

/// <summary>Finds names that transports left behind when their process was killed (docs/wire-formats.md, "Names on Linux").</summary>
internal static class StaleNames
{
    // The kernel knows sockets with longer paths by another one.
    private const int LongestSocketPath = 107;

    // No sockets: queues outlive their processes, and nothing tells whose a FIFO is without opening it.
    private static readonly string[] s_otherKinds = ["fifo-", "queue-", "ring-"];

    /// <summary>Paths of sockets that no process holds.</summary>
    public static IReadOnlyList<string> Find(SystemFiles files)
    {
        // The kernel's list instead of a connection: a live listener must not be disturbed by a question.
        var held = (files.Read("proc/net/unix") ?? "").Split('\n')
            .Select(line => line[(line.LastIndexOf(' ') + 1)..])
            .ToHashSet(StringComparer.Ordinal);
        var ours = LeftoverNames.PrivateFolders().ToHashSet(StringComparer.Ordinal);
        return
        [
            .. from folder in LeftoverNames.Folders()
               from path in Directory.EnumerateFileSystemEntries(folder, ours.Contains(folder) ? "*" : "CoreFxPipe_*")
               where !s_otherKinds.Any(Path.GetFileName(path).StartsWith) && path.Length <= LongestSocketPath && !held.Contains(path)
               orderby path
               select path,
        ];
    }
}
