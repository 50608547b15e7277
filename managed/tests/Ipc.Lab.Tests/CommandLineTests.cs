using System.Text.Json.Nodes;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>What strangers typed: wrong files, wrong separators, no folder named.</summary>
public sealed class CommandLineTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments) => CommandUnderTest.RunAsync(_folder, "right", arguments);

    private static void AssertOneErrorMessage(string errorMessage, (int Code, string Output, string Errors) end)
    {
        Assert.Contains(errorMessage, end.Errors, StringComparison.Ordinal);
        Assert.Single(end.Errors.TrimEnd().Split('\n'));
        Assert.Equal((2, ""), (end.Code, end.Output));
    }

    [Theory]
    [InlineData("{}")]
    [InlineData("{\"plan\": null, \"machine\": null}")]
    [InlineData("{\"plan\": {\"schema\": 1}, \"machine\": {}}")]
    [InlineData("{\"plan\": {\"schema\": \"1\"}, \"machine\": {}}")]
    [InlineData("{\"plan\": {\"cells\": [null]}, \"machine\": {}}")]
    [InlineData("[1, 2]")]
    [InlineData("null")]
    [InlineData("Dear diary")]
    public async Task AForeignPlanIsRefusedWithAnErrorMessage(string text)
    {
        _folder.Write("foreign/plan.json", text);

        var end = await RunAsync("run", "--resume", "foreign");

        AssertOneErrorMessage("plan.json", end);
    }

    [Theory]
    [InlineData("transport", "carrier-pigeon")]
    [InlineData("pair", "native")]
    [InlineData("codec", "asn1")]
    [InlineData("scenario", "gossip")]
    [InlineData("workload", "5k")]
    public async Task APlanOfThingsThatThisLabDoesNotKnowIsRefusedWithAnErrorMessage(string field, string value)
    {
        var plan = await PlanAsync();
        plan["plan"]!["cells"]![0]!["cell"]![field] = value;
        _folder.Write("results/plan.json", plan.ToJsonString());

        AssertOneErrorMessage($"'{value}'", await RunAsync("run", "--resume", "results"));
    }

    [Theory]
    [InlineData("launches.jsonl")]
    [InlineData("floors.jsonl")]
    public async Task ADamagedRecordIsNamedWithItsLine(string file)
    {
        await PlanAsync();
        _folder.Write($"results/{file}", "{\"not\": \"a record\"}\nnonsense\n");

        AssertOneErrorMessage($"{file}', line 1", await RunAsync("run", "--resume", "results"));
    }

    [Fact]
    public async Task ARunOfWhichEveryCellWasSkippedHasFailed()
    {
        var (code, output, errors) = await RunAsync("run", "--transport", "msrpc-alpc", "--workload", "64", "--out", "results");

        Assert.Equal(1, code);
        Assert.Contains("skipped", output, StringComparison.Ordinal);
        Assert.Contains("nothing was measured: ", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("list")]
    [InlineData("run")]
    [InlineData("report")]
    [InlineData("compare")]
    [InlineData("matrix")]
    [InlineData("advise")]
    [InlineData("serve")]
    [InlineData("drive")]
    [InlineData("doctor")]
    public async Task HelpFitsAPageAlsoInAFile(string command)
    {
        var (code, output, errors) = await RunAsync([.. command.Split(' ', StringSplitOptions.RemoveEmptyEntries), "--help"]);

        Assert.Equal((0, ""), (code, errors));
        Assert.All(output.Split('\n'), line => Assert.InRange(line.TrimEnd().Length, 0, 120));
        // What stands for a value says what kind it is, rather than repeating the option's name.
        Assert.DoesNotMatch(@"--([a-z-]+) <\1>", output);
    }

    [Fact]
    public async Task ARunThatDoesNotAlternateIsNotResumedAgainstATree()
    {
        await PlanAsync();

        AssertOneErrorMessage("does not alternate with another tree; omit --against", await RunAsync("run", "--resume", "results", "--against", "."));
    }

    [Fact]
    public async Task ResultsGoToTheCurrentFolder()
    {
        var (code, _, _) = await RunAsync("run", "--transport", "shm", "--pair", "native:managed", "--workload", "64", "--launches", "1", "--seconds", "0.01");

        Assert.Equal(0, code);
        var run = Assert.Single(Directory.GetDirectories(Path.Combine(_folder.Path, "results")));
        Assert.True(File.Exists(Path.Combine(run, "results.json")));
    }

    [Fact]
    public async Task PairsAreShownAsATablePerTransport()
    {
        await RunAsync("run", "--transport", "shm,unix", "--pair", "native:native,native:managed,managed:native", "--workload", "64", "--launches", "1",
            "--seconds", "0.01", "--out", "results");

        var (code, output, _) = await RunAsync("matrix", "results");

        Assert.Equal(0, code);
        Assert.Equal(2, output.Split("server \\ client").Length - 1);
        Assert.Contains("shm: call 64 raw, p50", output, StringComparison.Ordinal);
        Assert.Matches(@"managed\W+1.00 µs\W+-", output);
    }

    [Fact]
    public async Task AListGivenInPartsIsTheWholeList()
    {
        var (code, _, errors) = await RunAsync("run", "--transport", "shm", "--transport", "unix,tcp", "--pair", "native:native",
            "--pair", "native:managed", "--workload", "64", "--launches", "1", "--seconds", "0.01", "--out", "results");

        Assert.Equal(0, code);
        Assert.Contains("6 cells x 1 launch", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task ATableIsPlayedByHandToo()
    {
        var file = _folder.Write("prices.csv", "id,bid,ask\nEURUSD,1,2\n");

        var (code, output, errors) = await RunAsync(
            "drive", "--address", "unix://x", "--side", "managed", "--table", file, "--table-separator", ",", "--fields", "ask");

        Assert.Equal(("", 0), (errors, code));
        Assert.Contains("table", output, StringComparison.Ordinal);
        var cell = JsonNode.Parse((await File.ReadAllTextAsync(Path.Combine(_folder.Path, "peers.log"))).Split(' ', 3)[2])!;
        Assert.Equal((file, "EURUSD", "ask"), ((string?)cell["workload"]!["table"]!["file"], (string?)cell["workload"]!["table"]!["ids"]![0],
            (string?)cell["workload"]!["table"]!["fields"]![0]));
    }

    private async Task<JsonNode> PlanAsync()
    {
        await RunAsync("run", "--transport", "shm", "--pair", "native:managed", "--workload", "64", "--launches", "1", "--seconds", "0.01", "--out", "results");
        return JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(_folder.Path, "results/plan.json")))!;
    }
}
