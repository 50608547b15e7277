namespace Ipc.Distribution;

/// <summary>The tree this program was built in: the nearest folder above it that holds registry.json.</summary>
internal static class RepositoryRoot
{
    /// <summary>The full path of something in the tree.</summary>
    public static string Find(string relativePath)
    {
        foreach (var start in new[] { AppContext.BaseDirectory, Directory.GetCurrentDirectory() })
        {
            for (var folder = new DirectoryInfo(start); folder is not null; folder = folder.Parent)
            {
                if (File.Exists(Path.Combine(folder.FullName, "registry.json")))
                    return Path.Combine(folder.FullName, relativePath);
            }
        }
        throw new DirectoryNotFoundException(
            $"no registry.json above {AppContext.BaseDirectory} or the current folder: run this inside the source tree");
    }
}
