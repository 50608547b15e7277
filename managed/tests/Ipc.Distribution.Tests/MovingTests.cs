using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>docs/moving.md: the programs before and after do the same.</summary>
[Trait("system", "linux")]
public sealed class MovingTests : PastedPrograms
{
    [Fact]
    public async Task Programs_print_after_the_move_what_they_printed_before()
    {
        Assert.Equal(
            ["interprocess_after.cs", "pipe_client_after.cs", "pipe_client_before.cs", "pipe_server_after.cs", "pipe_server_before.cs", "queue_after.cpp",
                "queue_before.cpp"],
            Save("docs/moving.md"));
        foreach (var when in new[] { "before", "after" })
        {
            Run("dotnet", "build", "-c", "Release", $"pipe_server_{when}.cs");
            Run("dotnet", "build", "-c", "Release", $"pipe_client_{when}.cs");
            var server = Start("dotnet", "run", "-c", "Release", "--no-build", $"pipe_server_{when}.cs");
            Assert.Equal("listening", await server.StandardOutput.ReadLineAsync().WaitAsync(Patience));
            for (var client = 0; client < 2; client++)
                Assert.Equal("HELLO\nWORLD\n", Run("dotnet", "run", "-c", "Release", "--no-build", $"pipe_client_{when}.cs"));
            server.StandardInput.Close();
            Assert.True(server.WaitForExit(Patience));
            Assert.Equal(0, server.ExitCode);
        }
    }

    [Theory]
    [InlineData("queue_before", "")]
    [InlineData("queue_after", "queue://")]
    public void Queues_of_Cpp_hand_an_order_on(string program, string scheme)
    {
        Save("docs/moving.md");
        Run("c++", "-std=c++17", "-I", Checkout("native/include"), $"{program}.cpp", "-o", program, "-L", Checkout("build/release/lib"), "-lipc",
            $"-Wl,-rpath,{Checkout("build/release/lib")}", "-pthread", "-lrt");
        Assert.Equal("100 EURUSD\n", Run($"./{program}", $"{scheme}moving-{Guid.NewGuid():N}"));
    }

    [Fact]
    public void Queues_of_dotnet_hand_an_order_on()
    {
        Save("docs/moving.md");
        Assert.Equal("100 EURUSD\n", Run("dotnet", "run", "-c", "Release", "interprocess_after.cs"));
    }
}
