using System.Diagnostics;
using System.Text.Json.Nodes;
using Ipc.Lab.Advising;
using Ipc.Lab.Comparing;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>`ipc advise`: what fits a need, what does not, and the lines that use it.</summary>
public sealed class AdviseTests : IDisposable
{
    private static readonly Need s_calls = new("calls", 64, 64, null, "native", "managed", "linux", KeepOut: true, SurviveCrash: true, Network: false,
        SpareCore: false);
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private static (string[] Fit, Dictionary<string, string> Not) CandidatesFor(Need need)
    {
        var (fit, not) = Candidates.Of(need, Programs.OfThisTree());
        return ([.. fit.Select(c => c.Spec)], not.ToDictionary(e => e.Transport, e => e.Why));
    }

    [Fact]
    public void WhatCannotServeIsExcludedWithItsReason()
    {
        var (fit, not) = CandidatesFor(s_calls);

        Assert.Equal(["pipe", "unix", "tcp", "fifo", "shm", "shm-event"], fit);
        Assert.Contains("C++ library", not["iceoryx"], StringComparison.Ordinal);
        Assert.Contains("its kind is queue; pattern 'calls' needs channel or call", not["queue"], StringComparison.Ordinal);
        Assert.Contains("not on linux", not["com"], StringComparison.Ordinal);
        Assert.Equal(Registry.Transports.Count, fit.Length + not.Count);
        Assert.Contains("trusts the contents of shared memory", CandidatesFor(s_calls with { Client = "native" }).Not["boost-mq"], StringComparison.Ordinal);
    }

    [Fact]
    public void ANetworkLeavesTcpAndNobodyKeepsUsersOutThere()
    {
        Assert.Equal(["tcp"], CandidatesFor(s_calls with { Network = true, KeepOut = false }).Fit);
        Assert.Empty(CandidatesFor(s_calls with { Network = true }).Fit);
    }

    [Fact]
    public void PatternsTakeTheirTransports()
    {
        Assert.Equal(["broadcast"], CandidatesFor(s_calls with { Pattern = "broadcast" }).Fit);
        Assert.Contains("ring", CandidatesFor(s_calls with { Pattern = "clients" }).Fit);
        Assert.Equal(["pipe", "tcp", "shm", "shm-event"], CandidatesFor(s_calls with { Platform = "both" }).Fit);
    }

    [Fact]
    public void WhoSleepsBetweenMessagesIsMeasuredAsleep()
    {
        Assert.Contains("shm?wait=block", CandidatesFor(s_calls with { Rate = 100 }).Fit);
        Assert.Contains("shm?wait=spin", CandidatesFor(s_calls with { SpareCore = true }).Fit);
        Assert.DoesNotContain("shm?wait=spin", CandidatesFor(s_calls with { Rate = 100 }).Fit);
    }

    [Theory]
    [InlineData("calls", 100, 1000, "0.1k-1k")]
    [InlineData("calls", 30, 30, "32")]
    [InlineData("calls", 1000, 9000, "1k-10k")]
    [InlineData("oneway", 2500, 0, "oneway-3k")]
    public void TheNearestWorkloadIsMeasured(string pattern, int request, int reply, string workload) =>
        Assert.Equal(workload, (s_calls with { Pattern = pattern, RequestBytes = request, ReplyBytes = reply }).Workload.Id);

    [Theory]
    [InlineData("calls", 200, 1500, "200-1500")]
    [InlineData("calls", 1, 0, "1-0")]
    [InlineData("calls", 100, 1000, "0.1k-1k")] // the registry has them
    [InlineData("calls", 64, 64, "64")]
    [InlineData("calls", 0, 64, "64")] // no peer asks with nothing
    [InlineData("calls", 20_000_000, 20_000_000, "sweep-16m")] // too much to be measured in a minute or two
    [InlineData("oneway", 2500, 10_000, "2500-0")]
    [InlineData("broadcast", 200, 0, "200-0")]
    [InlineData("clients", 200, 0, "200-0")]
    [InlineData("broadcast", 8, 0, "oneway-32")] // too short for a sequence and a time
    public void SizesThatTheRegistryHasNotAreMeasuredThemselves(string pattern, int request, int reply, string workload)
    {
        var own = (s_calls with { Pattern = pattern, RequestBytes = request, ReplyBytes = reply }).OwnWorkload;

        Assert.Equal(workload, own.Id);
        Assert.Equal(own.Id, Choices.Workload(own.Id));
    }

    private async Task<string?> WorkloadOfAdviceAsync(string[] need)
    {
        var (code, output, errors) = await CommandUnderTest.RunAsync(_folder, "right", need);
        Assert.True(code == 0, errors);
        return (string?)JsonNode.Parse(output)!["workload"];
    }

    private static CellResult CellOf(string transport, double p50, double opsPerS = 10_000) => new()
    {
        Cell = new(transport, "native:managed", "raw", "call", "64"),
        Status = "ok",
        Reason = null,
        P50Ns = p50,
        OpsPerS = opsPerS,
        EachLaunch = [.. Enumerable.Range(0, 6).Select(i => new LaunchFigures { Round = i, Status = "ok", P50Ns = p50 * (1 + (0.01 * (i - 2.5))) })],
    };

    [Fact]
    public void TheFastestIsFirstAndNoDifferenceIsAnAnswer()
    {
        Candidate[] candidates = [new("unix", null), new("pipe", null), new("shm", null), new("tcp", null), new("fifo", null)];
        CellResult[] cells = [CellOf("unix", 1010), CellOf("pipe", 1000), CellOf("shm", 100, opsPerS: 50), CellOf("tcp", 2000)];

        var (ranking, excluded) = Ranking.Of(s_calls with { Rate = 100 }, candidates, cells);

        Assert.Equal([("pipe", "first"), ("unix", CellVerdict.NoDifference), ("tcp", CellVerdict.Slower)], ranking.Select(r => (r.Transport, r.Verdict)));
        Assert.Equal([("shm", "it manages 50 a second here, and 100 are needed"), ("fifo", "it was not measured")], excluded.Select(e => (e.Transport, e.Why)));
    }

    [Fact]
    public void AllAreRankedInOnePlacement()
    {
        // The commonest of `unix` is near, where it takes half the time; all have five launches far.
        CellResult InBoth(string transport, double near, double far, int nearLaunches)
        {
            PlacementFigures Of(string placement, double p50, int launches) =>
                new() { Placement = placement, P50Ns = p50, Launches = launches, OpsPerS = 1e9 / p50 };
            List<LaunchFigures> each = [.. Enumerable.Range(0, nearLaunches + 6).Select(i => i < nearLaunches
                ? new LaunchFigures { Round = i, Status = "ok", Placement = "near", P50Ns = near + i }
                    : new LaunchFigures { Round = i, Status = "ok", Placement = "far", P50Ns = far + i })];
            PlacementFigures[] placements = [Of("near", near, nearLaunches), Of("far", far, 6)];
            return new CellResult(nearLaunches > 6 ? placements[0] : placements[1])
            {
                Cell = new(transport, "native:managed", "raw", "call", "64"),
                Status = "ok",
                Reason = null,
                Placement = nearLaunches > 6 ? "near" : "far",
                Placements = placements,
                EachLaunch = each,
            };
        }
        Candidate[] candidates = [new("unix", null), new("pipe", null)];

        var (ranking, _) = Ranking.Of(s_calls, candidates, [InBoth("unix", 1000, 2200, 8), InBoth("pipe", 900, 2000, 1)]);

        Assert.Equal([("pipe", "far", 2000.0), ("unix", "far", 2200.0)], ranking.Select(r => (r.Transport, r.Placement, r.P50Ns)));
        Assert.InRange(ranking[1].Ratio!.Value, 1.09, 1.11);

        // Where one has too few there, it is said.
        (ranking, _) = Ranking.Of(s_calls, candidates, [InBoth("unix", 1000, 2200, 8), CellOf("pipe", 1900) with { Placement = "far" }]);
        using var text = new StringWriter();
        AdviceText.Write(text, new Advice(1, s_calls, "64", [], ranking, [], null, null, null));
        Assert.Contains("Not all in the same placement: unix near, pipe far.", text.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void EveryAnswerHasItsLines()
    {
        foreach (var (kind, scenario) in ((string, string)[])[("channel", "call"), ("channel", "oneway"), ("queue", "fanin"), ("broadcast", "broadcast")])
        {
            foreach (var (role, side) in from r in (string[])["server", "client"] from s in (string[])["native", "managed", "bound"] select (r, s))
            {
                var lines = UsageLines.For(kind, scenario, role, side, "unix://mine");
                Assert.Contains("\"unix://mine\"", lines, StringComparison.Ordinal);
                Assert.Equal(side switch { "native" => (false, false), "managed" => (true, false), _ => (false, true) },
                    (lines.Contains("ManagedIpc.", StringComparison.Ordinal), lines.Contains("NativeIpc.", StringComparison.Ordinal)));
            }
        }
    }

    [Fact]
    public async Task TheLinesOfCppCompile()
    {
        // Those of C# are compiled with the lab.
        var root = RepositoryRoot.Find()!;
        using var compiler = Process.Start(new ProcessStartInfo(
            "g++", ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", Path.Combine(root, "native/include"),
                Path.Combine(root, "managed/Ipc.Lab/Advising/Snippets/snippets.cpp")])
        {
            RedirectStandardError = true,
        })!;
        var errors = await compiler.StandardError.ReadToEndAsync();
        await compiler.WaitForExitAsync();

        Assert.Equal((0, ""), (compiler.ExitCode, errors));
    }

    [Fact]
    public async Task WhatIsMissingIsMeasuredAndThenUsed()
    {
        string[] need = ["advise", "--request", "64", "--reply", "64", "--any-user", "--network", "--json"];

        var (code, output, errors) = await CommandUnderTest.RunAsync(_folder, "right", need);
        Assert.True(code == 0, errors);
        var advice = JsonNode.Parse(output)!;
        Assert.Equal(("tcp://127.0.0.1:5055", "tcp", 6),
            ((string?)advice["address"], (string?)advice["ranking"]![0]!["transport"], (int?)advice["ranking"]![0]!["launches"]));

        var started = Fakes.StartedPeers(_folder).Count;
        var again = await CommandUnderTest.RunAsync(_folder, "right", need[..^1]);
        Assert.Equal(0, again.Code);
        Assert.Contains("Use tcp://127.0.0.1:5055", again.Output, StringComparison.Ordinal);
        Assert.Contains("ipc::Server server(\"tcp://0.0.0.0:5055?users=any\"", again.Output, StringComparison.Ordinal);
        Assert.Contains("ManagedIpc.Connect(\"tcp://127.0.0.1:5055\"", again.Output, StringComparison.Ordinal);
        Assert.Equal(started, Fakes.StartedPeers(_folder).Count);
        Assert.DoesNotContain("other builds", again.Output, StringComparison.Ordinal);

        // Whoever has built the programs anew since is told so.
        var built = _folder.WriteProgram("built-anew", $"#!/bin/bash\nexec '{Fakes.FakePeer}'\n");
        using var since = CommandUnderTest.Start(_folder, "right", ["env", $"IPC_NATIVE_PEER={built}"], need[..^1]);
        var (_, told, _) = await CommandUnderTest.EndAsync(since);
        Assert.Contains("These figures are of other builds of the programs than those here; --measure", told, StringComparison.Ordinal);
        Assert.Equal(started, Fakes.StartedPeers(_folder).Count);

        // Other sizes: the nearest will do, until somebody has measured them.
        string[] other = ["advise", "--request", "60", "--reply", "70", "--any-user", "--network", "--json"];
        Assert.Equal("64", await WorkloadOfAdviceAsync(other));
        Assert.Equal(started, Fakes.StartedPeers(_folder).Count);
        Assert.Equal("60-70", await WorkloadOfAdviceAsync([.. other, "--measure"]));
        started = Fakes.StartedPeers(_folder).Count;
        Assert.Equal("60-70", await WorkloadOfAdviceAsync(other));
        Assert.Equal(started, Fakes.StartedPeers(_folder).Count);

        // What is named is used, or the user is told.
        Directory.CreateDirectory(Path.Combine(_folder.Path, "empty"));
        var measured = await CommandUnderTest.RunAsync(_folder, "right", [.. other, "--from", "empty"]);
        Assert.Contains("no run in 'empty' answers this for this machine, so it is measured now:", measured.Errors, StringComparison.Ordinal);
        _folder.Write("broken/results.json", "{}");
        var refused = await CommandUnderTest.RunAsync(_folder, "right", [.. other, "--from", "broken"]);
        Assert.Equal(2, refused.Code);
        Assert.Contains("is not a results.json of this lab", refused.Errors, StringComparison.Ordinal);
        // Also where nothing would have been taken from it, because no transport does what is needed.
        foreach (string[] asked in (string[][])[other, ["advise", "--network"]])
        {
            var missing = await CommandUnderTest.RunAsync(_folder, "right", [.. asked, "--from", "nowhere"]);
            Assert.Equal(2, missing.Code);
            Assert.Contains("--from 'nowhere' is no folder", missing.Errors, StringComparison.Ordinal);
        }
        var both = await CommandUnderTest.RunAsync(_folder, "right", [.. other, "--from", "empty", "--measure"]);
        Assert.Equal(2, both.Code);
        Assert.Contains("leave one of them out", both.Errors, StringComparison.Ordinal);

        Assert.Equal(1, (await CommandUnderTest.RunAsync(_folder, "right", "advise", "--network")).Code);
        Assert.Equal(2, (await CommandUnderTest.RunAsync(_folder, "right", "advise", "--pattern", "gossip")).Code);
    }
}
