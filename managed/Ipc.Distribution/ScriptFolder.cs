namespace Ipc.Distribution;

/// <summary>Compares a folder with the scripts that should stand in it, and puts it right.</summary>
internal sealed class ScriptFolder(string path, IReadOnlyList<StartScript> scripts)
{
    private const UnixFileMode AnyExecute = UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;

    /// <summary>One sentence per file that is missing, differs, cannot be started or should not be there; none if all is well.</summary>
    public IReadOnlyList<string> Differences() =>
        [.. scripts.Select(Difference).OfType<string>(), .. ExtraFiles().Select(name => $"{name}: no entry of the registry asks for it")];

    /// <summary>Writes what differs and deletes what should not be there; returns what it did.</summary>
    public IReadOnlyList<string> Mend()
    {
        Directory.CreateDirectory(path);
        var done = new List<string>();
        foreach (var script in scripts.Where(script => Difference(script) is not null))
        {
            var file = Path.Combine(path, script.FileName);
            File.WriteAllText(file, script.Text);
            if (script.IsExecutable && !OperatingSystem.IsWindows())
                File.SetUnixFileMode(file, File.GetUnixFileMode(file) | AnyExecute);
            done.Add($"{script.FileName}: written");
        }
        foreach (var name in ExtraFiles())
        {
            File.Delete(Path.Combine(path, name));
            done.Add($"{name}: deleted, no entry of the registry asks for it");
        }
        return done;
    }

    private string? Difference(StartScript script)
    {
        var file = Path.Combine(path, script.FileName);
        if (!File.Exists(file))
            return $"{script.FileName}: missing";
        // Line ends are git's business (.gitattributes), and depend on the machine the tree was checked out on.
        if (File.ReadAllText(file).ReplaceLineEndings("\n") != script.Text.ReplaceLineEndings("\n"))
            return $"{script.FileName}: differs from what the registry says";
        if (script.IsExecutable && !OperatingSystem.IsWindows() && (File.GetUnixFileMode(file) & UnixFileMode.UserExecute) == 0)
            return $"{script.FileName}: is not executable";
        return null;
    }

    private IEnumerable<string> ExtraFiles()
    {
        if (!Directory.Exists(path))
            return [];
        var expected = scripts.Select(script => script.FileName).ToHashSet();
        return Directory.EnumerateFiles(path)
            .Select(file => Path.GetFileName(file))
            .Where(name => name.EndsWith(".sh", StringComparison.Ordinal) || name.EndsWith(".bat", StringComparison.Ordinal))
            .Where(name => !expected.Contains(name))
            .Order(StringComparer.Ordinal);
    }
}
