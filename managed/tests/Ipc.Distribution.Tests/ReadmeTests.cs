using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>The README's programs: its own build lines, every server with every client.</summary>
[Trait("system", "linux")]
public sealed class ReadmeTests : PastedPrograms
{
    [Fact]
    public async Task Every_server_answers_every_client()
    {
        Assert.Equal(["build.sh", "prices_client.c", "prices_client.cpp", "prices_client.cs", "prices_server.c", "prices_server.cpp", "prices_server.cs"],
            Save("README.md"));
        Run("sh", "-e", "build.sh");
        Run("dotnet", "build", "-c", "Release", "prices_server.cs");
        Run("dotnet", "build", "-c", "Release", "prices_client.cs");
        string[][] servers = [["./prices_server_c"], ["./prices_server_cpp"], ["dotnet", "run", "-c", "Release", "--no-build", "prices_server.cs"]];
        string[][] clients = [["./prices_client_c"], ["./prices_client_cpp"], ["dotnet", "run", "-c", "Release", "--no-build", "prices_client.cs"]];
        foreach (var command in servers)
        {
            var server = Start(command);
            Assert.StartsWith("listening", await server.StandardOutput.ReadLineAsync().WaitAsync(Patience), StringComparison.Ordinal);
            foreach (var client in clients)
                Assert.Equal("EURUSD 1.08\n", Run(client));
            if (command[^1].EndsWith("_cpp", StringComparison.Ordinal) || command[^1].EndsWith(".cs", StringComparison.Ordinal))
            {
                await server.StandardInput.WriteLineAsync(); // Enter ends it
                Assert.True(server.WaitForExit(Patience));
                Assert.Equal(0, server.ExitCode);
            }
            else
            {
                server.Kill(entireProcessTree: true);
                Assert.True(server.WaitForExit(Patience));
            }
        }
        // And without one, the client says so.
        var alone = Start("./prices_client_c");
        Assert.Contains("prices", await alone.StandardOutput.ReadToEndAsync(), StringComparison.Ordinal);
        Assert.True(alone.WaitForExit(Patience));
        Assert.Equal(1, alone.ExitCode);
    }
}
