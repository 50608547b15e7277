using System.Text.Json.Nodes;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>`ipc run --awake` on the machine itself. Not beside tests that hold two runs against each other: what a run finds of idle processors is among
/// the things in which they must not differ.</summary>
[Collection(nameof(AgainstTests))]
public sealed class AwakeTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    // As the system allows it: whoever may not write the device is told so before anything starts.
    [Fact]
    public async Task ProcessorsAreKeptAwakeAndThatIsOnRecord()
    {
        var allowed = MayDemand();
        var (code, output, errors) = await CommandUnderTest.RunAsync(_folder, "right", "run", "--awake", "--transport", "shm", "--pair", "native:managed",
            "--workload", "64", "--launches", "2", "--seconds", "0.01", "--out", "results", "--json");

        Assert.Equal(allowed ? 0 : 2, code);
        Assert.Contains(allowed ? ", idle processors kept awake; seed" : "--awake needs '/dev/cpu_dma_latency'", errors, StringComparison.Ordinal);
        Assert.Equal(allowed, output.Length > 0 && (bool)JsonNode.Parse(output)!["run"]!["awake"]!);
        Assert.Equal(allowed, Directory.Exists(Path.Combine(_folder.Path, "results")));
    }

    private static bool MayDemand()
    {
        try
        {
            File.OpenWrite("/dev/cpu_dma_latency").Dispose();
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }
}
