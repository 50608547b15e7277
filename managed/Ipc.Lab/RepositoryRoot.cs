namespace Ipc.Lab;

/// <summary>Finds the tree the lab was built in; peers are located relative to it.</summary>
internal static class RepositoryRoot
{
    /// <summary>The nearest folder above the program, else above the working directory, that holds registry.json and native/; null if there is none.</summary>
    public static string? Find() => Above(AppContext.BaseDirectory) ?? Above(Environment.CurrentDirectory);

    private static string? Above(string start)
    {
        for (var folder = new DirectoryInfo(start); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "registry.json")) && Directory.Exists(Path.Combine(folder.FullName, "native")))
                return folder.FullName;
        }
        return null;
    }
}
