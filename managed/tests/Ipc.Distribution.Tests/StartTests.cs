using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>docs/start.md and docs/abi.md: their programs, with the checkout in place of the packages.</summary>
[Trait("system", "linux")]
public sealed class StartTests : PastedPrograms
{
    [Fact]
    public async Task Every_server_of_the_first_page_greets_every_client()
    {
        Assert.Equal(["hello_client.cpp", "hello_client.cs", "hello_server.cpp", "hello_server.cs"], Save("docs/start.md"));
        string[] linked = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", Checkout("native/include"), "-L", Checkout("build/release/lib"), "-lipc",
            $"-Wl,-rpath,{Checkout("build/release/lib")}", "-pthread"];
        foreach (var program in new[] { "hello_server", "hello_client" })
        {
            Run(["c++", $"{program}.cpp", "-o", program, .. linked]);
            Run("dotnet", "build", "-c", "Release", $"{program}.cs");
        }
        string[][] servers = [["./hello_server"], ["dotnet", "run", "-c", "Release", "--no-build", "hello_server.cs"]];
        string[][] clients = [["./hello_client"], ["dotnet", "run", "-c", "Release", "--no-build", "hello_client.cs"]];
        foreach (var command in servers)
        {
            var server = Start(command);
            Assert.StartsWith("listening", await server.StandardOutput.ReadLineAsync().WaitAsync(Patience), StringComparison.Ordinal);
            foreach (var client in clients)
                Assert.Equal("Hello, world!\n", Run(client));
            await server.StandardInput.WriteLineAsync(); // Enter ends it
            Assert.True(server.WaitForExit(Patience));
            Assert.Equal(0, server.ExitCode);
        }
    }

    [Fact]
    public void The_programs_about_the_ABI_say_what_the_page_says()
    {
        Assert.Equal(["abi_version.py", "one_queue.c"], Save("docs/abi.md"));
        Run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", Checkout("native/include"), "one_queue.c", "-o", "one_queue",
            "-L", Checkout("build/release/lib"), "-lipc", $"-Wl,-rpath,{Checkout("build/release/lib")}");
        Assert.Equal("an order that is longer than eight bytes\n", Run("./one_queue", $"queue://abi-{Guid.NewGuid():N}"));
        var said = Run("python3", "abi_version.py", Checkout("build/release/lib/libipc.so.1")).Split('\n');
        Assert.Matches(@"^ABI 1\.\d+$", said[0]);
        Assert.Equal("no server at the address", said[1]);
    }
}
