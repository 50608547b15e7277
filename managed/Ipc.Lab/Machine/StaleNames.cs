using Ipc.Lab.Running;

namespace Ipc.Lab.Machine;

/// <summary>Finds names that transports left behind when their process was killed (docs/wire-formats.md, "Names on Linux").</summary>
internal static class StaleNames
{
    /// <summary>Paths of sockets that no process holds. FIFOs are left out: nothing tells whose they are without opening them.</summary>
    public static IReadOnlyList<string> Find(SystemFiles files)
    {
        // The kernel's list instead of a connection: a live listener must not be disturbed by a question.
        var held = (files.Read("proc/net/unix") ?? "").Split('\n')
            .Select(line => line[(line.LastIndexOf(' ') + 1)..])
            .ToHashSet(StringComparer.Ordinal);
        return
        [
            .. from folder in LeftoverNames.Folders()
               from path in Directory.EnumerateFileSystemEntries(folder, folder == LeftoverNames.PrivateFolder() ? "*" : "CoreFxPipe_*")
               where !Path.GetFileName(path).StartsWith("fifo-", StringComparison.Ordinal) && !held.Contains(path)
               orderby path
               select path,
        ];
    }
}
