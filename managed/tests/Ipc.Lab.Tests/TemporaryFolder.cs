namespace Ipc.Lab.Tests;

/// <summary>A folder of its own for one test, gone with it.</summary>
internal sealed class TemporaryFolder : IDisposable
{
    public TemporaryFolder() => Path = Directory.CreateTempSubdirectory("ipc-lab-test-").FullName;

    public string Path { get; }

    public string Write(string name, string text)
    {
        var file = System.IO.Path.Combine(Path, name);
        Directory.CreateDirectory(System.IO.Path.GetDirectoryName(file)!);
        File.WriteAllText(file, text);
        return file;
    }

    /// <summary>Writes a script that can be started.</summary>
    public string WriteProgram(string name, string text)
    {
        var file = Write(name, text);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return file;
    }

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
