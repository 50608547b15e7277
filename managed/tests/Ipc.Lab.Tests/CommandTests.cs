using System.Diagnostics;
using System.Text.Json.Nodes;
using Ipc.Lab.Commands;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>The command as a process of its own: exit codes, what goes where, and Ctrl-C.</summary>
public sealed class CommandTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private string Results => Path.Combine(_folder.Path, "results");

    private Process Start(string mode, params string[] arguments) => CommandUnderTest.Start(_folder, mode, arguments);

    private Task<(int Code, string Output, string Errors)> RunAsync(string mode, params string[] arguments) =>
        CommandUnderTest.RunAsync(_folder, mode, arguments);

    private string[] OneCell(params string[] more) =>
        ["run", "--transport", "shm", "--pair", "native:managed", "--workload", "64", "--launches", "2", "--seconds", "0.01", "--out", Results, .. more];

    [Fact]
    public async Task ARunEndsWithZeroAndWritesItsFolder()
    {
        var (code, output, errors) = await RunAsync("right", OneCell());

        Assert.Equal(0, code);
        Assert.StartsWith("shm\tnative:managed\traw\tcall\t64\tok\t", output, StringComparison.Ordinal);
        Assert.Contains("plan chosen: 1 cell x 2 launches = 2 launches", errors, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', output + errors);
        Assert.Equal(
            ["floors.jsonl", "launches.jsonl", "htm", "measurements.xlsx", "plan.json", "results.json", "results.md", "samples"],
            Directory.EnumerateFileSystemEntries(Results).Select(Path.GetFileName).Order(StringComparer.Ordinal)
                .Select(n => n!.EndsWith(".htm", StringComparison.Ordinal) ? "htm" : n));
        Assert.Contains("report: ", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("> /dev/full", "No space left on device")]
    [InlineData(">&-", "Access to the path is denied")]
    public async Task AStandardOutputThatCannotBeWrittenIsNotTakenForAFileOfTheRun(string redirection, string why)
    {
        using var run = CommandUnderTest.Start(_folder, "right", ["bash", "-c", $"exec \"$@\" {redirection}", "bash"], OneCell());
        var (code, _, errors) = await CommandUnderTest.EndAsync(run);

        Assert.Equal(1, code);
        Assert.Contains($"standard output cannot be written: {why}; redirect it elsewhere", errors, StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(Results, "results.json")));
    }

    [Fact]
    public async Task JsonGoesToStandardOutputAlone()
    {
        var (code, output, _) = await RunAsync("right", OneCell("--json"));

        Assert.Equal(0, code);
        Assert.Equal("ok", (string?)JsonNode.Parse(output)!["cells"]![0]!["status"]);
    }

    [Fact]
    public async Task AFailedCellGivesExitCodeOne()
    {
        var (code, output, _) = await RunAsync("failed-server", OneCell());

        Assert.Equal(1, code);
        Assert.Contains("WRONG_CONTENT: the server says: exchange 3 came twice", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task ACheckSaysOfEachCellWhetherItWorks()
    {
        string[] check = ["run", "--check", "--transport", "shm", "--pair", "native:managed", "--workload", "64", "--out", Results];
        var (code, output, errors) = await RunAsync("right", check);

        Assert.Equal(0, code);
        Assert.StartsWith("shm\tnative:managed\traw\tcall\t64\tchecked\tevery exchange was checked", output, StringComparison.Ordinal);
        Assert.Contains("1 cell x 1 launch = 1 launch,", errors, StringComparison.Ordinal);
        Assert.Contains("only checked", errors, StringComparison.Ordinal);
        // There is nothing to draw.
        Assert.DoesNotContain("report:", errors, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(Results, "*.htm"));

        Directory.Delete(Results, recursive: true);
        Assert.Equal(1, (await RunAsync("failed-server", check)).Code);
    }

    [Fact]
    public async Task DebugBuildsAreRefusedUnlessAskedForAndThenLabelled()
    {
        var refused = await RunAsync("debug", OneCell());
        Assert.Equal(2, refused.Code);
        Assert.Contains("is a debug build", refused.Errors, StringComparison.Ordinal);
        Assert.False(Directory.Exists(Results));

        var allowed = await RunAsync("debug", OneCell("--allow-debug"));
        Assert.Equal(0, allowed.Code);
        Assert.Contains("DEBUG BUILDS", allowed.Errors, StringComparison.Ordinal);
        Assert.Equal("debug", (string?)JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(Results, "results.json")))!["run"]!["build"]);
    }

    [Fact]
    public async Task CtrlCEndsPeersKeepsResultsAndTheRunGoesOn()
    {
        using var process = Start("slow", [.. OneCell().Select(a => a == "2" ? "20" : a)]);
        var launches = Path.Combine(Results, "launches.jsonl");
        while (!File.Exists(launches) && !process.HasExited)
            await Task.Delay(20);
        Process.Start("kill", ["-INT", process.Id.ToString(null, null)])!.Dispose();
        var (code, _, errors) = await CommandUnderTest.EndAsync(process);

        Assert.Equal(130, code);
        Assert.Contains($"ipc run --resume '{Results}'", errors, StringComparison.Ordinal);
        Assert.False((bool?)JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(Results, "results.json")))!["run"]!["complete"]);
        Assert.All(Fakes.StartedPeers(_folder), id => Assert.False(Directory.Exists($"/proc/{id}"), $"peer {id} still runs"));

        var resumed = await RunAsync("right", "run", "--resume", Results);
        Assert.Equal(0, resumed.Code);
        Assert.Equal(20, (int?)JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(Results, "results.json")))!["cells"]![0]!["launches"]);
    }

    // Whoever builds the programs anew meanwhile loses nothing.
    [Fact]
    public async Task AProgramThatGoesInTheMiddleOfARunEndsItAndWhatWasMeasuredIsKept()
    {
        // The log has a line for each of the two peers of a launch.
        var peer = _folder.WriteProgram("peer", $"#!/bin/bash\n[ -f \"$FAKE_PEER_LOG\" ] && [ \"$(wc -l < \"$FAKE_PEER_LOG\")\" -ge 5 ] && rm -f \"$0\"\n"
            + $"exec '{Fakes.FakePeer}'\n");
        using var process = CommandUnderTest.Start(_folder, "right", ["env", $"IPC_NATIVE_PEER={peer}"], [.. OneCell().Select(a => a == "2" ? "20" : a)]);
        var (code, _, errors) = await CommandUnderTest.EndAsync(process);

        Assert.True(code == ExitCodes.UserMistake, errors);
        Assert.Contains($"native peer '{peer}' does not exist", errors, StringComparison.Ordinal);
        Assert.Contains($"go on with: ipc run --resume '{Results}'", errors, StringComparison.Ordinal);
        var cell = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(Results, "results.json")))!["cells"]![0]!;
        Assert.InRange((int)cell["launches"]!, 1, 3);
        Assert.All(Fakes.StartedPeers(_folder), id => Assert.False(Directory.Exists($"/proc/{id}"), $"peer {id} still runs"));
    }

    [Fact]
    public async Task ASecondCtrlCEndsAtOnce()
    {
        using var process = Start("hang-client", OneCell());
        while (!Fakes.HasStarted(_folder, "client") && !process.HasExited)
            await Task.Delay(20);
        // After the first one the hanging client has half a second to end in order; the others come meanwhile.
        using var impatient = Process.Start(new ProcessStartInfo("sh",
            ["-c", $"while kill -INT {process.Id}; do sleep 0.1; done"])
        { RedirectStandardError = true })!;
        var (code, output, errors) = await CommandUnderTest.EndAsync(process);

        Assert.True((code, output) == (130, ""), $"exit code {code}, output '{output}', errors '{errors}'");
        Assert.EndsWith("ended at once", errors.TrimEnd(), StringComparison.Ordinal);
        Assert.All(Fakes.StartedPeers(_folder), id => Assert.False(IsRunning(id), $"peer {id} still runs"));
    }

    private static bool IsRunning(int id) =>
        File.Exists($"/proc/{id}/stat") && !File.ReadAllText($"/proc/{id}/stat").Contains(") Z", StringComparison.Ordinal);

    [Fact]
    public async Task ARunIsNotContinuedWithOtherBinaries()
    {
        await RunAsync("right", OneCell());
        var plan = Path.Combine(Results, "plan.json");
        var text = await File.ReadAllTextAsync(plan);
        var hash = (string?)JsonNode.Parse(text)!["plan"]!["binaries"]![0]!["sha256"];
        await File.WriteAllTextAsync(plan, text.Replace(hash!, new string('0', 64), StringComparison.Ordinal));

        var (code, _, errors) = await RunAsync("right", "run", "--resume", "--out", Results);

        Assert.Equal(2, code);
        Assert.Contains("'fake-peer.sh' is not the one the run in", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("run --transport quic", "there is no transport 'quic'")]
    [InlineData("run --colour", "`ipc run` does not know '--colour'")]
    [InlineData("run --seconds soon", "--seconds 'soon' is not a number")]
    [InlineData("run --warmup long", "--warmup 'long' is not a number")]
    [InlineData("advise --rate NaN", "--rate 'NaN' is not a number")]
    [InlineData("advise --rate Infinity", "--rate 'Infinity' is not a number")]
    [InlineData("run --seconds 0,5", "--seconds '0,5' is not a number; write its decimals after a point, as in 0.5")]
    [InlineData("advise --from nowhere", "--from 'nowhere' is no folder; name that of a run, or one that holds runs")]
    [InlineData("run --out EMPTY", "--out names nothing; omit it or name one")]
    [InlineData("run --resume EMPTY", "--resume names nothing; omit it or name one")]
    [InlineData("run --table EMPTY", "--table names nothing; omit it or name one")]
    [InlineData("serve --transport unix --table EMPTY", "--table names nothing; omit it or name one")]
    [InlineData("list transports quic", "there is no transport 'quic'")]
    [InlineData("list codecs shm", "`ipc list transports shm`")]
    [InlineData("drive --transport unix --ids a", "--ids says how to read a table file")]
    [InlineData("drive --transport unix --workload 64 --table a.csv", "--table is for workload 'table'")]
    [InlineData("run --resume", "--resume needs the folder")]
    [InlineData("run --ids a", "--ids says how to read a table file")]
    [InlineData("run --resume x --seed 3", "omit --seed")]
    [InlineData("run --resume x --awake", "omit --awake")]
    [InlineData("run --resume x --check", "omit --check")]
    [InlineData("run --check --against x", "--check measures nothing that could be compared; omit --check or --against")]
    [InlineData("run --out /proc/nowhere --workload 64", "results cannot be written to '/proc/nowhere'")]
    [InlineData("run --launches 1.5", "--launches '1.5' is not a whole number")]
    [InlineData("compare EMPTY EMPTY", "not by nothing")]
    [InlineData("matrix EMPTY", "not by nothing")]
    [InlineData("report EMPTY", "not by nothing")]
    [InlineData("report nowhere", "there are no results: 'nowhere' does not exist")]
    [InlineData("compare nowhere nowhere", "there are no results: 'nowhere' does not exist")]
    [InlineData("list colours", "there is no list 'colours'")]
    [InlineData("bake", "`ipc` does not know 'bake'")]
    [InlineData("drive --transport tcp", "give the address `ipc serve` prints")]
    [InlineData("drive --transport shm --scenario serialize", "scenario 'serialize' has no two sides")]
    [InlineData("serve", "name what to use")]
    [InlineData("serve --address shm:/x", "address 'shm:/x' cannot be used")]
    public async Task MistakesAreOneErrorMessageOnStandardErrorAndStartNothing(string line, string errorMessage)
    {
        var (code, output, errors) = await RunAsync("right", [.. line.Split(' ').Select(word => word == "EMPTY" ? "" : word)]);

        Assert.Equal((2, ""), (code, output));
        Assert.Contains(errorMessage, errors, StringComparison.Ordinal);
        Assert.Single(errors.TrimEnd().Split('\n'));
    }

    [Fact]
    public async Task ServeWithOnceEndsWhenItsClientLeaves()
    {
        // The fake server says it has served after the first look at its usage, which only a runner asks for: here it never comes.
        using var process = Start("right", "serve", "--transport", "shm", "--side", "native");
        var line = await process.StandardOutput.ReadLineAsync();
        Assert.Equal("native server at shm://by-hand: call 1k-10k raw; Ctrl-C ends it", line);
        Process.Start("kill", ["-INT", process.Id.ToString(null, null)])!.Dispose();

        Assert.Equal(130, (await CommandUnderTest.EndAsync(process)).Code);
    }

    [Fact]
    public async Task DrivePrintsPercentiles()
    {
        var (code, output, _) = await RunAsync("right", "drive", "--address", "shm://x", "--side", "managed");

        Assert.Equal(0, code);
        Assert.Contains("p99.99      1.00 µs", output, StringComparison.Ordinal);
        Assert.Contains("operations  10", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task DoctorJudgesThisMachine()
    {
        var (code, output, _) = await RunAsync("right", "doctor", "--json");

        var report = JsonNode.Parse(output)!;
        Assert.Equal((0, true), (code, (bool?)report["possible"]));
        Assert.Equal("release", (string?)report["machine"]!["peers"]!["native"]!["build"]);
        Assert.Contains("steal", report["checks"]!.AsArray().Select(c => (string?)c!["id"]));
        Assert.True((double)report["costs"]!["clock_read_ns"]! > 0);
        Assert.StartsWith("a reading takes ", (string?)report["checks"]!.AsArray().Single(c => (string?)c!["id"] == "clock")!["cost"],
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task DoctorSaysSoWhenNothingCanBeMeasured()
    {
        var (code, output, _) = await RunAsync("dead-alone", "doctor");
        Assert.Equal(0, code);
        Assert.Contains("a measurement is possible", output, StringComparison.Ordinal);

        var silent = await RunAsync("silent", "doctor");
        Assert.Equal(1, silent.Code);
        Assert.Contains("no peer program runs", silent.Output, StringComparison.Ordinal);
    }
}
