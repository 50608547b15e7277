namespace Ipc.Lab.Running;

/// <summary>Removes names (sockets, FIFOs) that a killed peer could not remove itself; docs/wire-formats.md says where they stand.</summary>
internal static class LeftoverNames
{
    /// <summary>Folders in which transports keep names on this system.</summary>
    public static IEnumerable<string> Folders()
    {
        if (!OperatingSystem.IsLinux())
            return [];
        var mine = PrivateFolder();
        return Directory.Exists(mine) ? [Path.GetTempPath(), mine] : [Path.GetTempPath()];
    }

    /// <summary>The user's private folder for names.</summary>
    public static string PrivateFolder() => $"/tmp/ipc-{UserId()}";

    /// <summary>Removes everything named after a launch whose processes have ended. The name is the launch's own, so nobody else's goes.</summary>
    public static void Remove(string launchName)
    {
        // Foreign libraries keep names in the folder of shared memory.
        foreach (var folder in Folders().Append("/dev/shm").Where(Directory.Exists))
        {
            foreach (var path in Directory.EnumerateFileSystemEntries(folder, $"*{launchName}*"))
                TryDelete(path);
        }
    }

    private static void TryDelete(string path)
    {
        try
        {
            File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Somebody else's file of a similar name; it is not ours to remove.
        }
    }

    private static string UserId() =>
        Machine.SystemFiles.Real.ReadField("proc/self/status", "Uid")?.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[0] ?? "0";
}
