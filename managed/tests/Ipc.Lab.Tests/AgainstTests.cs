using System.Text.Json.Nodes;
using Ipc.Lab.Planning;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>`ipc run --against DIR` and `ipc compare`: two trees whose launches alternate.</summary>
[Collection(nameof(AgainstTests))]
public sealed class AgainstTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments) => CommandUnderTest.RunAsync(_folder, "right", arguments);

    private static string[] Against(string tree) =>
        ["run", "--transport", "unix,pipe", "--pair", "native:native,managed:managed", "--workload", "64", "--launches", "6", "--seconds", "0.01", "--warmup",
            "0.01", "--against", tree, "--out", "out"];

    /// <summary>Another checkout whose programs are the fake peer, a tenth or so slower over one transport.</summary>
    private string Tree(string slowTransport, int slowerPercent)
    {
        foreach (var program in (string[])["build/release/bin/ipc-peer", "artifacts/bin/Ipc.Peer/release/ipc-peer-managed"])
        {
            _folder.WriteProgram($"tree/{program}", $"#!/bin/bash\nFAKE_PEER_SLOW={slowTransport} FAKE_PEER_PERCENT={slowerPercent} exec '{Fakes.FakePeer}'\n");
        }
        _folder.Write("tree/registry.json", Registry.Json);
        return "tree";
    }

    [Fact]
    public async Task ATreeThatIsATenthSlowerOverOneTransportIsNamedAndNothingElse()
    {
        var run = await RunAsync(Against(Tree("unix", 10)));
        Assert.Equal(0, run.Code);
        Assert.Contains("unix: faster, 0.90", run.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("pipe: ", run.Output, StringComparison.Ordinal);

        // Launches of one round stand side by side, and the trees take turns in being first.
        var peers = (await File.ReadAllLinesAsync(Path.Combine(_folder.Path, "peers.log"))).Where(l => l.Contains(" server ", StringComparison.Ordinal));
        Assert.Equal(2 * 4 * 6, peers.Count());

        // Either half is a run of its own, with all that a run writes.
        foreach (var half in (string[])["base", "new"])
            Assert.Superset(new HashSet<string?> { "results.json", "results.md", "measurements.xlsx" },
                Directory.GetFiles(Path.Combine(_folder.Path, "out", half)).Select(Path.GetFileName).ToHashSet());

        var reversed = await RunAsync("compare", "out/new", "out/base", "--json");
        Assert.Equal(1, reversed.Code);
        var comparison = JsonNode.Parse(reversed.Output)!;
        Assert.True((bool?)comparison["paired"]);
        Assert.All(comparison["cells"]!.AsArray(), c => Assert.Equal((string?)c!["transport"] == "unix" ? "slower" : "no difference", (string?)c["verdict"]));
        Assert.All(comparison["cells"]!.AsArray().Where(c => (string?)c!["transport"] == "unix"), c => Assert.InRange((double)c!["ratio"]!, 1.08, 1.12));

        Assert.Equal(0, (await RunAsync("compare", "out/new", "out/base", "--tolerate", "30")).Code);
        Assert.StartsWith("**2 faster, 2 without a difference, of 4 cells**", (await RunAsync("compare", "out", "--markdown")).Output,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task ATreeAgainstItselfShowsNoDifferenceAndGoesOnWhenInterrupted()
    {
        var run = await RunAsync(Against(Tree("none", 0)));

        Assert.Equal(0, run.Code);
        Assert.StartsWith("no difference in 4 of 4 cells", run.Output, StringComparison.Ordinal);

        // Half of it is lost, as if it had been interrupted there.
        foreach (var half in (string[])["base", "new"])
        {
            var launches = Path.Combine(_folder.Path, "out", half, "launches.jsonl");
            await File.WriteAllLinesAsync(launches, (await File.ReadAllLinesAsync(launches)).Take(11));
        }
        var elsewhere = await RunAsync("run", "--resume", "out", "--against", "elsewhere");
        Assert.Equal(2, elsewhere.Code);
        Assert.Contains("tree', not with 'elsewhere'; omit --against", elsewhere.Errors, StringComparison.Ordinal);

        // Whoever repeats the line that was interrupted names the tree again.
        var resumed = await RunAsync("run", "--resume", "out", "--against", "tree");
        Assert.Equal(("", 0), (resumed.Code == 0 ? "" : resumed.Errors, resumed.Code));
        Assert.StartsWith("no difference in 4 of 4 cells", resumed.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task WhatTheOtherTreeDoesNotKnowIsSkippedThereWithTheReason()
    {
        Tree("none", 0);
        _folder.Write("tree/registry.json", Registry.Json.Replace("\"id\": \"pipe\"", "\"id\": \"tube\"", StringComparison.Ordinal));

        var run = await RunAsync([.. Against("tree"), "--json"]);

        Assert.Equal(0, run.Code);
        var pipe = JsonNode.Parse(run.Output)!["cells"]!.AsArray().First(c => (string?)c!["transport"] == "pipe")!;
        Assert.Null(pipe["verdict"]);
        Assert.Contains("has no transport 'pipe'", (string?)pipe["reason"], StringComparison.Ordinal);
    }

    [Fact]
    public void SizesOfOnesOwnNeedNoRegistry()
    {
        // A workload of the registry is none, though its name has the form.
        _folder.Write("tree/registry.json", Registry.Json.Replace("\"id\": \"1k-10k\"", "\"id\": \"other\"", StringComparison.Ordinal));
        var tree = new OtherTree(Path.Combine(_folder.Path, "tree"));
        var cell = new Cell("shm", "native:native", "raw", "call", "200-1500");
        Assert.Null(tree.WhyUnknown(cell, []));
        Assert.Contains("has no workload '1k-10k'", tree.WhyUnknown(cell with { Workload = "1k-10k" }, []), StringComparison.Ordinal);
        Assert.Contains("has no workload 'gone'", tree.WhyUnknown(cell with { Workload = "gone" }, []), StringComparison.Ordinal);
    }

    [Fact]
    public async Task UnlikeRunsAreRefusedUnlessTold()
    {
        string[] cell = ["run", "--transport", "unix", "--pair", "native:native", "--workload", "64", "--launches", "5", "--warmup", "0.01"];
        await RunAsync([.. cell, "--seconds", "0.01", "--out", "a"]);
        await RunAsync([.. cell, "--seconds", "0.02", "--out", "b"]);

        var refused = await RunAsync("compare", "a", "b");
        Assert.Equal((2, ""), (refused.Code, refused.Output));
        Assert.Contains("measured time of a launch: 0.01 s and 0.02 s; measure both alike, or add --anyway", refused.Errors, StringComparison.Ordinal);

        var told = await RunAsync("compare", "a", "b", "--anyway");
        Assert.Equal(0, told.Code);
        Assert.Contains("DIFFERENT: measured time of a launch", told.Output, StringComparison.Ordinal);

        Assert.Contains("a second folder must be named", (await RunAsync("compare", "a")).Errors, StringComparison.Ordinal);
        Assert.Contains("is not a checkout of ipc", (await RunAsync(Against("a"))).Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task TheOtherTreesLaunchesMayTakeLonger()
    {
        var run = await RunAsync([.. Against(Tree("none", 0)), "--against-seconds", "0.05"]);

        Assert.Equal(0, run.Code);
        Assert.Contains("which are measured for 0.05 s", run.Errors, StringComparison.Ordinal);
        Assert.Contains("DIFFERENT: measured time of a launch: 0.05 s and 0.01 s", run.Output, StringComparison.Ordinal);
        Assert.Contains("no difference in 4 of 4 cells", run.Output, StringComparison.Ordinal);
        // As the peers were told in turn, and as the results say.
        var told = (await File.ReadAllLinesAsync(Path.Combine(_folder.Path, "peers.log"))).Where(l => l.Contains(" client ", StringComparison.Ordinal))
            .Select(l => (double)JsonNode.Parse(l[l.IndexOf('{', StringComparison.Ordinal)..])!["seconds"]!);
        Assert.Equal(4 * 6, told.Count(s => s == 0.05));
        Assert.Equal(4 * 6, told.Count(s => s == 0.01));
        foreach (var (half, seconds) in ((string, double)[])[("base", 0.05), ("new", 0.01)])
        {
            var results = JsonNode.Parse(await File.ReadAllTextAsync(Path.Combine(_folder.Path, "out", half, "results.json")))!;
            Assert.Equal(seconds, (double)results["run"]!["schedule"]!["seconds"]!);
        }

        Assert.Equal((2, "--against-seconds needs the other checkout, which may be this one: --against DIR"),
            await MistakeAsync("run", "--against-seconds", "5"));
        Assert.Equal((2, "--against-seconds 0 is not between 0.01 and 3600"), await MistakeAsync([.. Against("tree"), "--against-seconds", "0"]));
    }

    private async Task<(int Code, string FirstLine)> MistakeAsync(params string[] arguments)
    {
        var run = await RunAsync(arguments);
        return (run.Code, run.Errors.Split('\n')[0]);
    }
}
