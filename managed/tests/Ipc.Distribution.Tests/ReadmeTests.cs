using System.Diagnostics;
using System.Text.RegularExpressions;
using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>The README's programs as somebody pastes them: every file it names, its own build lines, every server with every client.
/// Only the place of the checkout is put in.</summary>
[Trait("system", "linux")]
public sealed partial class ReadmeTests : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(4);

    private readonly string _folder = Directory.CreateTempSubdirectory("ipc-readme-").FullName;
    private readonly string _root = Path.GetDirectoryName(RepositoryRoot.Find("README.md"))!;
    private readonly List<Process> _servers = [];

    public void Dispose()
    {
        foreach (var server in _servers)
        {
            server.Kill(entireProcessTree: true);
            server.WaitForExit();
            server.Dispose();
        }
        Directory.Delete(_folder, recursive: true);
    }

    // ```language, then a comment with the file's name and nothing else.
    [GeneratedRegex(@"^```\w+\n(?:/\* |// |# )([\w.]+)(?: \*/)?\n.*?^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex NamedBlock();

    [Fact]
    public async Task Every_server_answers_every_client()
    {
        Assert.Equal(["build.sh", "prices_client.c", "prices_client.cpp", "prices_client.cs", "prices_server.c", "prices_server.cpp", "prices_server.cs"], Save());
        Run("sh", "-e", "build.sh");
        Run("dotnet", "build", "-c", "Release", "prices_server.cs");
        Run("dotnet", "build", "-c", "Release", "prices_client.cs");
        string[][] servers = [["./prices_server_c"], ["./prices_server_cpp"], ["dotnet", "run", "-c", "Release", "--no-build", "prices_server.cs"]];
        string[][] clients = [["./prices_client_c"], ["./prices_client_cpp"], ["dotnet", "run", "-c", "Release", "--no-build", "prices_client.cs"]];
        foreach (var command in servers)
        {
            var server = Start(command);
            _servers.Add(server);
            Assert.StartsWith("listening", await server.StandardOutput.ReadLineAsync().WaitAsync(s_patience), StringComparison.Ordinal);
            foreach (var client in clients)
                Assert.Equal("EURUSD 1.08\n", Run(client));
            if (command[^1].EndsWith("_cpp", StringComparison.Ordinal) || command[^1].EndsWith(".cs", StringComparison.Ordinal))
            {
                await server.StandardInput.WriteLineAsync(); // Enter ends it
                Assert.True(server.WaitForExit(s_patience));
                Assert.Equal(0, server.ExitCode);
            }
            else
            {
                server.Kill(entireProcessTree: true);
                Assert.True(server.WaitForExit(s_patience));
            }
        }
        // And without one, the client says so.
        using var alone = Start("./prices_client_c");
        Assert.Contains("prices", await alone.StandardOutput.ReadToEndAsync(), StringComparison.Ordinal);
        Assert.True(alone.WaitForExit(s_patience));
        Assert.Equal(1, alone.ExitCode);
    }

    private List<string> Save()
    {
        var names = new List<string>();
        foreach (Match block in NamedBlock().Matches(File.ReadAllText(Path.Combine(_root, "README.md"))))
        {
            var text = string.Join('\n', block.Value.Split('\n')[1..^1]) + "\n";
            File.WriteAllText(Path.Combine(_folder, block.Groups[1].Value), text.Replace("../ipc", _root, StringComparison.Ordinal));
            names.Add(block.Groups[1].Value);
        }
        names.Sort(StringComparer.Ordinal);
        return names;
    }

    private Process Start(params string[] command)
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
        start.Environment["XDG_DATA_HOME"] = _folder; // where dotnet keeps what it builds of single files
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return Process.Start(start)!;
    }

    private string Run(params string[] command)
    {
        using var process = Start(command);
        process.StandardInput.Close();
        var errors = process.StandardError.ReadToEndAsync();
        var output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(s_patience))
            process.Kill(entireProcessTree: true);
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{string.Join(' ', command)} ended with {process.ExitCode}:\n{output.Result}\n{errors.Result}");
        return output.Result;
    }
}
