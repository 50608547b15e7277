using System.Globalization;

namespace Ipc.Lab.Machine;

/// <summary>Reads the kernel's small text files; a file that is missing or refuses is simply not known.</summary>
/// <param name="root">Where the system's file tree begins; tests give a folder of their own.</param>
internal sealed class SystemFiles(string root = "/")
{
    public static SystemFiles Real { get; } = new();

    /// <summary>A file's text without surrounding white space, or null.</summary>
    public string? Read(string path)
    {
        try
        {
            var text = File.ReadAllText(At(path)).Trim();
            return text.Length > 0 ? text : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>A number of four bytes, as devices give it, or null.</summary>
    public int? ReadWord(string path)
    {
        try
        {
            using var file = File.OpenRead(At(path));
            var word = new byte[sizeof(int)];
            return file.ReadAtLeast(word, word.Length, throwOnEndOfStream: false) == word.Length ? BitConverter.ToInt32(word) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    public long? ReadNumber(string path) =>
        long.TryParse(Read(path), NumberStyles.Integer, CultureInfo.InvariantCulture, out var number) ? number : null;

    /// <summary>The value after <c>key</c> and a colon or white space, as in /proc/cpuinfo and /proc/meminfo.</summary>
    public string? ReadField(string path, string key) =>
        Read(path)?.Split('\n')
            .Select(line => line.Split(':', 2))
            .FirstOrDefault(parts => parts.Length == 2 && parts[0].Trim() == key)?[1].Trim();

    /// <summary>A value of /proc/meminfo in bytes.</summary>
    public long? ReadMemory(string key) =>
        ReadField("proc/meminfo", key)?.Split(' ')[0] is { } kilobytes
        && long.TryParse(kilobytes, NumberStyles.None, CultureInfo.InvariantCulture, out var value) ? value * 1024 : null;

    /// <summary>Names of the entries of a folder that begin with <paramref name="prefix"/>, sorted.</summary>
    public IReadOnlyList<string> List(string folder, string prefix)
    {
        try
        {
            return [.. Directory.EnumerateFileSystemEntries(At(folder), prefix + "*").Select(Path.GetFileName).OfType<string>().Order(StringComparer.Ordinal)];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    private string At(string path) => Path.Combine(root, path.TrimStart('/'));
}
