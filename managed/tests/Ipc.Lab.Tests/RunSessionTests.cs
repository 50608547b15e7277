using System.IO.Compression;
using System.Text;
using System.Text.Json;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Whole runs into a results folder: kept, interrupted, continued.</summary>
public sealed class RunSessionTests : IDisposable
{
    private static readonly Cell s_call = new("shm", "native:managed", "raw", "call", "1k-10k");
    private static readonly Cell s_blocking = new("shm?wait=block", "native:managed", "raw", "call", "1k-10k");
    private static readonly Cell s_alone = new(Cell.NoTransport, "managed:managed", "json", "serialize", "1k-10k");

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private ResultsFolder NewResults(KeptPlan kept)
    {
        var results = new ResultsFolder(Path.Combine(_folder.Path, "results"));
        results.Create(kept);
        return results;
    }

    [Fact]
    public async Task ARunGivesEveryCellItsFiguresAndFloor()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call, s_blocking, s_alone));
        var session = Fakes.Session(NewResults(kept), kept, Fakes.Programs(_folder));

        Assert.True(await session.RunAsync(CancellationToken.None));
        var results = session.WriteResults();

        Assert.True(results.Run.Complete);
        Assert.Equal(3, results.Run.RoundsDone);
        Assert.All(results.Cells, c => Assert.Equal(("ok", 3, 30L), (c.Status, c.Launches, c.Operations)));
        var call = results.Cells[0];
        Assert.Equal((1000u, 1000u, 1000u), (call.P50Ns, call.MaxNs, call.MeanNs));
        // Ten operations of 1000 ns in 20 000 ns of wall time: half of it went by between them.
        Assert.Equal(5e5, call.OpsPerS!.Value, 1);
        Assert.Equal(1e6, call.OpsPerSByMeanLatency!.Value, 1);
        Assert.Equal(5.5e9, call.BytesPerS!.Value, 1);
        // Three launches have no interval, ten operations no p90.
        Assert.Equal((null, null, null), (call.P50Ci, call.Coverage, call.P90Ns));
        Assert.Equal(("slot", 400.0, 2.5), (call.Floor, call.FloorNs, call.FloorRatio));
        Assert.Equal(("futex", 1000.0, 1.0), (results.Cells[1].Floor, results.Cells[1].FloorNs, results.Cells[1].FloorRatio));
        // Ten exchanges lie between the server's looks: 13 served, 3 of them warm-up.
        Assert.Equal(new BySide(1300, 5000), call.CpuNsPerOp);
        Assert.Equal(new BySide(2.6, 2), call.VoluntarySwitchesPerOp);
        Assert.Equal(new BySide(4096, 4096), call.MemoryBytes);
        Assert.Null(call.AllocatedBytesPerOp);
        Assert.Equal((null, null, 2.0), (results.Cells[2].Floor, results.Cells[2].FloorRatio, results.Cells[2].Phases!["encode_ns"]));
    }

    [Fact]
    public async Task AFailedCellIsShownAsFailedAndNotLaunchedAgain()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var watcher = new SilentWatcher();
        var session = Fakes.Session(NewResults(kept), kept, Fakes.Programs(_folder, "failed-client"), watcher);

        Assert.True(await session.RunAsync(CancellationToken.None));
        var cell = Assert.Single(session.WriteResults().Cells);

        Assert.Equal(("failed", "WRONG_CONTENT: the client says: exchange 3 came twice"), (cell.Status, cell.Reason));
        Assert.Null(cell.P50Ns);
        Assert.Single(watcher.Failures);
        Assert.Equal(2, Fakes.StartedPeers(_folder).Count);
    }

    // Whose times change and whose floors do not come: neither is asked for.
    [Fact]
    public async Task ACheckLaunchesEachCellOnceAndMeasuresNothing()
    {
        var plan = Fakes.Plan(s_call, s_alone);
        var kept = Fakes.Kept(plan with { Schedule = Presets.CheckedCells });
        var folder = NewResults(kept);
        var session = Fakes.Session(folder, kept, Fakes.Programs(_folder, "drifting", floors: "broken"));

        Assert.True(await session.RunAsync(CancellationToken.None));
        var results = session.WriteResults();

        Assert.Equal((true, 1, null), (results.Run.Complete, results.Run.RoundsDone, results.FloorsReason));
        Assert.All(results.Cells, c => Assert.Equal(("checked", RunSession.OnlyChecked, null), (c.Status, c.Reason, c.P50Ns)));
        // A server and a client, and whoever is alone.
        Assert.Equal((2, 3), (folder.ReadLaunches().Count, Fakes.StartedPeers(_folder).Count));
        Assert.Empty(folder.ReadFloors());
        Assert.True(folder.ReadPlan().Plan.Schedule.ChecksOnly);
    }

    [Fact]
    public async Task ACheckFindsTheCellThatFails()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call) with { Schedule = Presets.CheckedCells });
        var session = Fakes.Session(NewResults(kept), kept, Fakes.Programs(_folder, "lying-server"));

        Assert.True(await session.RunAsync(CancellationToken.None));

        Assert.Equal("failed", Assert.Single(session.WriteResults().Cells).Status);
    }

    [Theory]
    [InlineData("broken", "the floors program ended with exit code 4; its last words: no second CPU")]
    [InlineData("lingering", "the floors program did not end after it had ended its output")]
    public async Task BrokenFloorsAreSaidAndCellsAreMeasuredAllTheSame(string floors, string reason)
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var session = Fakes.Session(NewResults(kept), kept, Fakes.Programs(_folder, floors: floors));

        await session.RunAsync(CancellationToken.None);
        var results = session.WriteResults();

        Assert.Equal(reason, results.FloorsReason);
        Assert.Equal(("ok", null), (results.Cells[0].Status, results.Cells[0].FloorRatio));
    }

    [Fact]
    public async Task AnInterruptedRunKeepsWhatItHasAndGoesOnWithWhatIsMissing()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call, s_blocking));
        var folder = NewResults(kept);
        using var stop = new CancellationTokenSource();
        var first = Fakes.Session(folder, kept, Fakes.Programs(_folder), new SilentWatcher(launch => StopAt(launch, 4, stop)));
        Assert.False(await first.RunAsync(stop.Token));
        var interrupted = first.WriteResults();
        Assert.False(interrupted.Run.Complete);
        Assert.Equal(3, folder.ReadLaunches().Count);
        var startedBefore = Fakes.StartedPeers(_folder).Count;

        var again = new ResultsFolder(folder.Path);
        var second = Fakes.Session(again, again.ReadPlan(), Fakes.Programs(_folder));
        Assert.True(await second.RunAsync(CancellationToken.None));

        var results = second.WriteResults();
        Assert.True(results.Run.Complete);
        Assert.All(results.Cells, c => Assert.Equal(("ok", 3), (c.Status, c.Launches)));
        Assert.Equal(6, Fakes.StartedPeers(_folder).Count - startedBefore);
        Assert.Single(again.ReadFloors());
    }

    [Fact]
    public async Task AHalfWrittenLastLineNeverHappened()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var folder = NewResults(kept);
        await Fakes.Session(folder, kept, Fakes.Programs(_folder)).RunAsync(CancellationToken.None);
        var log = Path.Combine(folder.Path, "launches.jsonl");
        var text = await File.ReadAllTextAsync(log);
        await File.WriteAllTextAsync(log, text[..^20]);

        var session = Fakes.Session(folder, folder.ReadPlan(), Fakes.Programs(_folder));
        Assert.True(await session.RunAsync(CancellationToken.None));

        Assert.Equal([0, 1, 2], folder.ReadLaunches().Select(l => l.Round));
        Assert.Equal(3, session.WriteResults().Cells[0].Launches);
    }

    [Fact]
    public async Task DamagedSamplesFailTheirCell()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var folder = NewResults(kept);
        var session = Fakes.Session(folder, kept, Fakes.Programs(_folder));
        await session.RunAsync(CancellationToken.None);
        await File.WriteAllTextAsync(Directory.GetFiles(Path.Combine(folder.Path, "samples"))[0], "not gzip");

        Assert.Equal("failed", session.WriteResults().Cells[0].Status);
    }

    [Fact]
    public async Task ResultsHaveTheFieldsOfTheSchema()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call) with { Cells = [new PlannedCell(s_call, null), new PlannedCell(s_blocking, "not today")] });
        var folder = NewResults(kept);
        var session = Fakes.Session(folder, kept, Fakes.Programs(_folder));
        await session.RunAsync(CancellationToken.None);

        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(folder.ResultsFile));
        var root = json.RootElement;
        AssertHas(root, "schema", "machine", "floors", "cells", "run");
        AssertHas(
            root.GetProperty("floors"), "cacheline_rtt_ns", "slot_rtt_ns", "futex_rtt_ns", "pipe_rtt_ns", "unix_rtt_ns", "memcpy_bytes_per_s", "clock_ns");
        Assert.Equal(200, root.GetProperty("floors").GetProperty("slot_rtt_ns").GetProperty("64").GetDouble());
        foreach (var cell in root.GetProperty("cells").EnumerateArray())
        {
            AssertHas(
                cell, "transport", "pair", "codec", "scenario", "workload", "status", "reason", "operations", "launches", "p50_ns", "p90_ns", "p99_ns",
                "p999_ns", "p9999_ns", "max_ns", "mean_ns", "ops_per_s", "ops_per_s_ci", "ops_per_s_by_mean_latency", "bytes_per_s", "floor", "floor_ratio",
                "cpu_ns_per_op", "memory_bytes",
                "allocated_bytes_per_op", "coverage", "p50_ci", "p99_ci", "floor_ratio_ci", "placement", "placements", "each_launch", "line_ns",
                "decomposition");
            foreach (var launch in cell.GetProperty("each_launch").EnumerateArray())
                AssertHas(launch, "round", "status", "reason", "repeated", "placement", "line_ns", "floor_before_ns", "floor_after_ns", "p50_ns", "p99_ns",
                    "ops_per_s", "samples");
        }
        AssertHas(root.GetProperty("cells")[0].GetProperty("cpu_ns_per_op"), "server", "client");
        AssertHas(root.GetProperty("machine"), "cpu", "kernel", "virtualisation", "steal_percent", "peers", "binaries", "lab_runtime");
        AssertHas(root.GetProperty("run"), "preset", "seed", "pins", "build", "complete");
        Assert.Equal("not today", root.GetProperty("cells")[1].GetProperty("reason").GetString());
        Assert.All(
            root.GetProperty("cells")[0].GetProperty("each_launch").EnumerateArray(),
            launch => Assert.Equal(10, folder.ReadSamples(launch.GetProperty("samples").GetString()!).Length));
    }

    [Fact]
    public async Task ResultsAreReadBackAndThoseOfAnotherSchemaAreRefused()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var folder = NewResults(kept);
        await Fakes.Session(folder, kept, Fakes.Programs(_folder)).RunAsync(CancellationToken.None);

        var read = ResultsReader.Read(folder.Path);
        Assert.Equal((1000.0, 3, 3), (read.Cells[0].P50Ns, read.Cells[0].Launches, read.Cells[0].EachLaunch.Count));
        Assert.Equal(1000.0, Assert.Single(read.Cells[0].Placements).P50Ns);

        var text = await File.ReadAllTextAsync(folder.ResultsFile);
        var compressed = Directory.CreateDirectory(Path.Combine(_folder.Path, "compressed")).FullName;
        await using (var file = new GZipStream(File.Create(Path.Combine(compressed, "results.json.gz")), CompressionLevel.Fastest))
            await file.WriteAsync(Encoding.UTF8.GetBytes(text));
        Assert.Equal(1000.0, ResultsReader.Read(compressed).Cells[0].P50Ns);
        await File.WriteAllTextAsync(Path.Combine(compressed, "results.json.gz"), text);
        Assert.Contains("cannot be read as results", Assert.Throws<UserMistakeException>(() => ResultsReader.Read(compressed)).Message,
            StringComparison.Ordinal);

        await File.WriteAllTextAsync(folder.ResultsFile, text.Replace("\"schema\": 2", "\"schema\": 1", StringComparison.Ordinal));
        Assert.Contains("has schema 1", Assert.Throws<UserMistakeException>(() => ResultsReader.Read(folder.Path)).Message, StringComparison.Ordinal);
        await File.WriteAllTextAsync(folder.ResultsFile, "[]");
        Assert.Contains("is not a results.json", Assert.Throws<UserMistakeException>(() => ResultsReader.Read(folder.ResultsFile)).Message,
            StringComparison.Ordinal);
        Assert.Contains("does not exist", Assert.Throws<UserMistakeException>(() => ResultsReader.Read(folder.Path + "-none")).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void AFolderThatHoldsARunIsNotOverwritten()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_call));
        var folder = NewResults(kept);

        Assert.Contains("already holds a run", Assert.Throws<UserMistakeException>(() => folder.Create(kept)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void TwoRunsDoNotShareAFolder()
    {
        var folder = NewResults(Fakes.Kept(Fakes.Plan(s_call)));
        using (folder.Lock())
            Assert.Contains("is in use by another run", Assert.Throws<UserMistakeException>(() => new ResultsFolder(folder.Path).Lock()).Message,
                StringComparison.Ordinal);

        Assert.False(File.Exists(Path.Combine(folder.Path, "lock")));
    }

    [Fact]
    public void AFolderWithoutARunCannotBeContinued() =>
        Assert.StartsWith(
            "there is no run to continue in ", Assert.Throws<UserMistakeException>(() => new ResultsFolder(_folder.Path).ReadPlan()).Message,
            StringComparison.Ordinal);

    private static void StopAt(int launch, int at, CancellationTokenSource stop)
    {
        if (launch == at)
            stop.Cancel();
    }

    private static void AssertHas(JsonElement element, params string[] names)
    {
        foreach (var name in names)
            Assert.True(element.TryGetProperty(name, out _), $"no field '{name}'");
    }
}
