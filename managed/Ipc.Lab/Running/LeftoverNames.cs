namespace Ipc.Lab.Running;

/// <summary>Removes names (sockets, FIFOs) that a killed peer could not remove itself; docs/wire-formats.md says where they stand.</summary>
internal static class LeftoverNames
{
    private static string? s_presentLaunch;

    /// <summary>Says which launch runs now; <see cref="Remove"/> ends it.</summary>
    public static void Expect(string launchName) => Volatile.Write(ref s_presentLaunch, launchName);

    /// <summary>Removes what the present launch's processes, killed just now, have left.</summary>
    public static void RemoveOfPresentLaunch()
    {
        if (Volatile.Read(ref s_presentLaunch) is { } launch)
            Remove(launch);
    }

    /// <summary>Folders in which transports keep names on this system.</summary>
    public static IEnumerable<string> Folders()
    {
        if (!OperatingSystem.IsLinux())
            return [];
        return [Path.GetTempPath(), .. PrivateFolders()];
    }

    /// <summary>The user's private folders, of which the library uses the first it can for names, and for queues and rings: all that
    /// are there, because a process that died may have had another environment.</summary>
    public static IEnumerable<string> PrivateFolders()
    {
        var user = UserId();
        string?[] runtime = [Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR")?.TrimEnd('/'), $"/run/user/{user}"];
        return [.. runtime.Where(folder => !string.IsNullOrEmpty(folder)).Select(folder => $"{folder}/ipc")
            .Append($"/tmp/ipc-{user}").Append($"/dev/shm/ipc-{user}").Distinct().Where(CanBeRead)];
    }

    // Another user's folder, which took the name first, cannot.
    private static bool CanBeRead(string folder)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries(folder).Any() || Directory.Exists(folder);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

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
