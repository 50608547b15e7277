using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>docs/hosting.md: the server in C++ answers by the handler in C#.</summary>
[Trait("system", "linux")]
public sealed class HostingTests : PastedPrograms
{
    [Fact]
    public async Task The_handler_in_csharp_answers_for_the_server_in_cpp()
    {
        Assert.Equal(["Answers.cs", "hosting_server.cpp", "prices.csproj"], Save("docs/hosting.md"));
        Save("README.md");
        // Its programs are no part of the class library.
        Run("sh", "-c", "rm prices_*.cs");
        Run("dotnet", "build", "prices.csproj", "-c", "Release", "-o", "built", "-nologo", "-v", "quiet");
        foreach (var (program, library) in new[] { ("hosting_server", "-lipc-hosting"), ("prices_client", "-lipc") })
            Run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", Checkout("native/include"), $"{program}.cpp", "-o", program,
                "-L", Checkout("build/release/lib"), library, "-lipc", $"-Wl,-rpath,{Checkout("build/release/lib")}", "-pthread");
        var server = Start("./hosting_server");
        Assert.StartsWith("listening", await server.StandardOutput.ReadLineAsync().WaitAsync(Patience), StringComparison.Ordinal);
        Assert.Equal("EURUSD 1.08\n", Run("./prices_client"));
        await server.StandardInput.WriteLineAsync(); // Enter ends it
        Assert.True(server.WaitForExit(Patience));
        Assert.Equal(0, server.ExitCode);
    }
}
