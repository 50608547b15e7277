using System.Diagnostics;
using System.Text.RegularExpressions;
using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>The programs of a page, in a folder of their own, as somebody pastes them. Only the place of the checkout is put in, for packages too. The
/// processes started here end with it.</summary>
[Collection("programs of pages")] // one at a time, because their projects are built in the same place
public abstract partial class PastedPrograms : IDisposable
{
    protected static readonly TimeSpan Patience = TimeSpan.FromMinutes(4);

    private readonly string _folder = Directory.CreateTempSubdirectory("ipc-pasted-").FullName;
    private readonly string _root = Path.GetDirectoryName(RepositoryRoot.Find("README.md"))!;
    private readonly List<Process> _started = [];

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected virtual void Dispose(bool disposing)
    {
        foreach (var process in _started)
        {
            process.Kill(entireProcessTree: true);
            process.WaitForExit();
            process.Dispose();
        }
        Directory.Delete(_folder, recursive: true);
    }

    // ```language, then a comment that begins with the file's name.
    [GeneratedRegex(@"^```\w+\n(?:/\* |// |# |<!-- )(\w+\.\w+)(?: \*/| -->|: [^\n]*)?\n.*?^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex NamedBlock();

    // What a program of its own names, and the tests have as a project.
    [GeneratedRegex(@"^#:package (Ipc[\w.]*)@\S+$", RegexOptions.Multiline)]
    private static partial Regex Package();
    [GeneratedRegex("<PackageReference Include=\"(Ipc[\\w.]*)\" Version=\"[^\"]*\" />")]
    private static partial Regex PackageReference();

    /// <summary>Where something of the checkout is.</summary>
    protected string Checkout(string path) => Path.Combine(_root, path);

    /// <summary>Saves each block of code whose first line is a comment with a file's name; gives the names, sorted.</summary>
    protected List<string> Save(string page)
    {
        var names = new List<string>();
        foreach (Match block in NamedBlock().Matches(File.ReadAllText(Path.Combine(_root, page))))
        {
            var text = string.Join('\n', block.Value.Split('\n')[1..^1]) + "\n";
            Save(block.Groups[1].Value, text);
            names.Add(block.Groups[1].Value);
        }
        names.Sort(StringComparer.Ordinal);
        return names;
    }

    /// <summary>Saves one program, with the checkout in place of what it names.</summary>
    protected void Save(string name, string program)
    {
        program = program.Replace("../ipc", _root, StringComparison.Ordinal);
        program = Package().Replace(program, $"#:project {_root}/managed/$1/$1.csproj");
        program = PackageReference().Replace(program, $"<ProjectReference Include=\"{_root}/managed/$1/$1.csproj\" />");
        File.WriteAllText(Path.Combine(_folder, name), program);
    }

    protected Process Start(params string[] command)
    {
        var start = new ProcessStartInfo(command[0], command[1..])
        {
            WorkingDirectory = _folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        if (command[0].StartsWith("./", StringComparison.Ordinal))
            start.FileName = Path.Combine(_folder, command[0][2..]);
        // The address is everybody's; the folder it is looked up in is not.
        start.Environment["XDG_RUNTIME_DIR"] = _folder;
        start.Environment["TMPDIR"] = _folder; // where .NET keeps its pipes
        start.Environment["XDG_DATA_HOME"] = _folder; // where dotnet keeps what it builds of single files
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        var process = Process.Start(start)!;
        _started.Add(process);
        return process;
    }

    protected string Run(params string[] command)
    {
        var process = Start(command);
        process.StandardInput.Close();
        var errors = process.StandardError.ReadToEndAsync();
        var output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(Patience))
            process.Kill(entireProcessTree: true);
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{string.Join(' ', command)} ended with {process.ExitCode}:\n{output.Result}\n{errors.Result}");
        return output.Result;
    }
}
