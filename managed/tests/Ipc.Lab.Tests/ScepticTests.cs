using System.Text.Json.Nodes;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>What an expert would try first: the lab is broken on purpose, and must object. Found elsewhere: a transport slowed by a tenth
/// (<see cref="AgainstTests"/>,
/// <see cref="CompareTests"/>), drift and cheating in all their shades (<see cref="SteadinessTests"/>), the estimators
/// (<see cref="EstimatorTests"/>).</summary>
public sealed class ScepticTests : IDisposable
{
    private static readonly string s_foreignPeer = Path.Combine(AppContext.BaseDirectory, "foreign-peer.py");

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    /// <summary>A whole run of one cell whose peers are fakes of this mode; its only cell as results.json has it.</summary>
    private async Task<(int Code, JsonNode Cell)> RunAsync(string mode, int launches = 6)
    {
        var run = await CommandUnderTest.RunAsync(
            _folder, mode, "run", "--transport", "shm", "--pair", "native:native", "--workload", "64", "--launches", $"{launches}", "--seconds", "0.01",
            "--warmup", "0.01", "--out", "out");
        var results = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(_folder.Path, "out/results.json")))!;
        return (run.Code, Assert.Single(results["cells"]!.AsArray())!);
    }

    /// <summary>The runtime's thread that compiles a second time once took a fifth of a run's first second from the peers.</summary>
    [Fact]
    public async Task TheLabItselfDoesNotCompileInTheBackgroundWhileItMeasures()
    {
        using var run = CommandUnderTest.Start(_folder, "slow", "run", "--transport", "shm,unix", "--pair", "native:native", "--workload", "64",
            "--launches", "2", "--seconds", "0.01", "--warmup", "0.01", "--out", "out");
        var ended = CommandUnderTest.EndAsync(run);
        var threads = new HashSet<string>();
        while (!ended.IsCompleted)
        {
            threads.UnionWith(ThreadNames(run.Id));
            await Task.Delay(5);
        }
        Assert.Contains(threads, name => name.StartsWith(".NET", StringComparison.Ordinal)); // the runtime names its threads
        Assert.DoesNotContain(threads, name => name.StartsWith(".NET Tiered", StringComparison.Ordinal));
    }

    private static IEnumerable<string> ThreadNames(int process)
    {
        try
        {
            return [.. Directory.EnumerateDirectories($"/proc/{process}/task").Select(task => File.ReadAllText(Path.Combine(task, "comm")))];
        }
        catch (IOException) // it ended meanwhile
        {
            return [];
        }
    }

    [Theory]
    [InlineData("wrong", "native")]
    [InlineData("wrong", "managed")]
    [InlineData("stale", "native")]
    [InlineData("stale", "managed")]
    [InlineData("short", "native")]
    [InlineData("short", "managed")]
    public async Task AServerThatAnswersWrongStaleOrShortBytesFailsTheCell(string cheat, string client)
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync(cheat, $"python:{client}"));

        Assert.Equal("WRONG_CONTENT", failure.Status);
        Assert.StartsWith("the client says: ", failure.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("native")]
    [InlineData("managed")]
    public async Task AClientThatSkipsThePayloadFailsTheCell(string server)
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync("skip", $"{server}:python"));

        Assert.Equal("WRONG_CONTENT", failure.Status);
        Assert.StartsWith("the server says: ", failure.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("native")]
    [InlineData("managed")]
    public async Task AClientThatClaimsCallsItNeverMadeFailsTheCell(string server)
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync("idle", $"{server}:python"));

        Assert.Equal("WRONG_FIGURES", failure.Status);
        Assert.Contains("exchanges, the client counts", failure.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public async Task AClockTooCoarseForTheOperationFailsTheCell()
    {
        var (code, cell) = await RunAsync("coarse");

        Assert.Equal((1, "failed"), (code, (string?)cell["status"]));
        Assert.Equal("WRONG_FIGURES: 392 of 400 operations took 0 ns by the client's clock: it is too coarse for them", (string?)cell["reason"]);
        Assert.Null(cell["p50_ns"]);
    }

    [Fact]
    public async Task ACellThatFailsInItsThirdLaunchHasFailed()
    {
        var (code, cell) = await RunAsync("third-launch");

        Assert.Equal((1, "failed"), (code, (string?)cell["status"]));
        Assert.Equal("WRONG_CONTENT: the client says: exchange 3 came twice", (string?)cell["reason"]);
        // The two good ones are shown and make no figure.
        Assert.Equal(["ok", "ok", "failed"], cell["each_launch"]!.AsArray().Select(l => (string?)l!["status"]));
        Assert.Null(cell["p50_ns"]);
    }

    [Theory]
    [InlineData("drifting", "its operations became 1")]
    [InlineData("cheating", "an operation took 400 ns at the end of the warm-up and 1000 ns when it was measured")]
    public async Task ACellWhosePeerDriftsOrWasFastOnlyUntilItWasMeasuredHasNoFigures(string mode, string reason)
    {
        var (_, cell) = await RunAsync(mode, launches: 2);

        Assert.Equal("unsteady", (string?)cell["status"]);
        Assert.StartsWith(reason, (string?)cell["reason"], StringComparison.Ordinal);
        Assert.Null(cell["p50_ns"]);
        // Each was tried once more.
        Assert.Equal([false, true, false, true], cell["each_launch"]!.AsArray().Select(l => (bool)l!["repeated"]!));
    }

    [Fact]
    public async Task AStallIn1LaunchOf10ShowsInTheMaximumAndMovesNothingElse()
    {
        var (code, cell) = await RunAsync("stalling", launches: 10);

        Assert.Equal((0, "ok", 10), (code, (string?)cell["status"], (int)cell["launches"]!));
        Assert.Equal((1000.0, 1000.0, 100_000_000.0), ((double)cell["p50_ns"]!, (double)cell["mean_ns"]!, (double)cell["max_ns"]!));
        Assert.Equal([1000.0, 1000.0], cell["p50_ci"]!.AsArray().Select(v => (double)v!));
    }

    [Fact]
    public async Task OnOneCpuItIsSaidBesideTheFigures()
    {
        // A shell that gives itself one CPU before it becomes the command, as a container with one does.
        using var process = CommandUnderTest.Start(
            _folder, "right", ["taskset", "-c", "0"], "run", "--transport", "shm", "--pair", "native:native", "--workload", "64", "--launches", "1",
            "--seconds", "0.01", "--warmup", "0.01", "--out", "out");
        var (code, _, errors) = await CommandUnderTest.EndAsync(process);

        Assert.Equal(0, code);
        Assert.Contains("server and client both on CPU 0: they take turns, so spinning transports cannot be judged", errors, StringComparison.Ordinal);
        var pins = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(_folder.Path, "out/results.json")))!["run"]!["pins"]!;
        Assert.Equal((0, 0), ((int)pins["server"]!, (int)pins["client"]!));
        Assert.Contains("both on CPU 0", await File.ReadAllTextAsync(Path.Combine(_folder.Path, "out/results.md")), StringComparison.Ordinal);
    }

    // Over a real transport, with the lab's own peer at the honest end.
    private async Task LaunchAsync(string cheat, string pair)
    {
        var cell = new Cell("unix", pair, "raw", "call", "1k-10k", Count: 100);
        var programs = Programs.OfThisTree([new ForeignPeer("python", $"python3 '{s_foreignPeer}' {cheat}")]);
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(cell.Workload, null), $"lab-test-{Guid.NewGuid():N}"[..24], 7, Pins.None, new LaunchTiming(0.01, 0.01),
            Path.Combine(_folder.Path, "launch.u32"));

        await new Launcher(programs, LaunchBounds.Usual).RunAsync(task, 0, 0, CancellationToken.None);
    }
}
