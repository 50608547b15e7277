using Ipc.Lab.Findings;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Xunit;
using static Ipc.Lab.Tests.Findings.KnownResults;

namespace Ipc.Lab.Tests.Findings;

/// <summary>Verdicts over results of known ratios.</summary>
public sealed class FindingsTests
{
    private const string Where = "transport=pipe pair=native:native scenario=call workload=1k-10k";

    private static Finding Codecs(double ratio, string least, string most, double noise = 0.01, string line = "", int seed = 1) => Judge(
        Claim(Where, "codec=custom", "codec=raw", line, least, most),
        Report(Cell("pipe native:native custom call 1k-10k", 10_000 * ratio, noise, seed),
            Cell("pipe native:native raw call 1k-10k", 10_000, noise, seed + 1000)));

    [Theory]
    [InlineData(1.25, "1.2", "1.3", "confirmed, as large as published")]
    [InlineData(1.10, "1.2", "1.3", "confirmed, smaller than published")]
    [InlineData(2.00, "1.2", "1.3", "confirmed, larger than published")]
    [InlineData(5.00, "1.2", "", "confirmed, as large as published")]
    [InlineData(1.50, "1", "", "confirmed")]
    [InlineData(0.80, "1.2", "1.3", "refuted: the opposite holds")]
    [InlineData(1.00, "1.2", "1.3", "refuted: no such difference")]
    [InlineData(1.00, "1", "", "refuted: no such difference")]
    // The claim may be that something takes less.
    [InlineData(0.80, "0.79", "0.83", "confirmed, as large as published")]
    [InlineData(0.50, "0.79", "0.83", "confirmed, larger than published")]
    [InlineData(0.93, "0.79", "0.83", "confirmed, smaller than published")]
    [InlineData(3.00, "", "1", "refuted: the opposite holds")]
    public void ARatioIsHeldAgainstTheClaim(double ratio, string least, string most, string verdict)
    {
        var finding = Codecs(ratio, least, most);

        Assert.Equal(verdict, finding.Verdict);
        var evidence = Assert.Single(finding.Evidence);
        Assert.InRange(evidence.Value, ratio * 0.97, ratio * 1.03);
        Assert.InRange(evidence.Value, evidence.Interval[0], evidence.Interval[1]);
    }

    [Theory]
    [InlineData(3, "confirmed")]
    [InlineData(1.5, "refuted: it stays below 2.00 ×")]
    public void AClaimMayNameItsOwnLine(double ratio, string verdict) => Assert.Equal(verdict, Codecs(ratio, "2", "", line: "2").Verdict);

    [Fact]
    public void WhereLaunchesDifferTooMuchNothingIsClaimed()
    {
        var finding = Codecs(1.15, "1.2", "1.3", noise: 0.4);

        Assert.Equal(FindingKind.NotTestable, finding.Kind);
        Assert.Equal("not testable here: 1 of 1 intervals hold both the published effect and none; more launches would tell: "
            + $"`scripts/ipc run --claim {finding.Claim.Id}`", finding.Verdict);
    }

    [Fact]
    public void TheConsoleSaysTheVerdictAndWhatItRestsOn()
    {
        using var text = new StringWriter();
        FindingsConsole.Write(text, [Codecs(1.25, "1.2", "1.3")]);

        var lines = text.ToString().Split(Environment.NewLine);
        Assert.All(lines, line => Assert.True(line.Length <= 80, line));
        Assert.Contains("  confirmed, as large as published.", lines);
        Assert.Contains("native:native custom call 1k-10k by pipe native:native raw call 1k-10k;",
            string.Join(' ', lines.Select(l => l.Trim())), StringComparison.Ordinal);
    }

    [Fact]
    public void AnEffectBelowTwoPercentIsNone() => Assert.Equal(FindingKind.Refuted, Codecs(1.012, "1", "", noise: 0.001).Kind);

    [Fact]
    public void WhatIsEqualIsSeldomSaidToDiffer()
    {
        var kinds = Enumerable.Range(0, 200).Select(seed => Codecs(1, "1", "", noise: 0.05, seed: seed).Kind).ToList();

        // An interval of 95 % errs on this side in one case of forty.
        Assert.InRange(kinds.Count(k => k == FindingKind.Confirmed), 0, 12);
    }

    [Fact]
    public void WhereComparisonsDisagreeTheFewestAxesThatExplainItAreNamed()
    {
        var claim = Claim("\"transport=pipe,shm pair=native:native scenario=call workload=1k-10k,100k-1000k\"", "codec=custom", "codec=raw", least: "1.5");
        static CellResult[] Both(string transport, string workload, double ratio) =>
            [Cell($"{transport} native:native custom call {workload}", 1000 * ratio), Cell($"{transport} native:native raw call {workload}", 1000)];

        var byWorkload = Judge(claim, Report([.. Both("pipe", "1k-10k", 1), .. Both("shm", "1k-10k", 1), .. Both("pipe", "100k-1000k", 2),
            .. Both("shm", "100k-1000k", 2)]));
        Assert.Equal("depends on the workload: holds for 100k-1000k; not for 1k-10k", byWorkload.Verdict);

        var byBoth = Judge(claim, Report([.. Both("pipe", "1k-10k", 1), .. Both("shm", "1k-10k", 2), .. Both("pipe", "100k-1000k", 2),
            .. Both("shm", "100k-1000k", 1)]));
        Assert.Equal("depends on the workload and the transport: holds for 100k-1000k pipe, 1k-10k shm; not for 1k-10k pipe, 100k-1000k shm", byBoth.Verdict);
        Assert.Equal(4, byBoth.Evidence.Count);
    }

    [Fact]
    public void ListsGoInStep()
    {
        var claim = Claim("transport=pipe pair=native:native codec=raw", "\"scenario=push workload=push-1k,push-10k\"",
            "\"scenario=call workload=0.1k-1k,1k-10k\"", least: "0.83", most: "0.95");

        Assert.Equal(["pipe native:native raw push push-1k by pipe native:native raw call 0.1k-1k",
            "pipe native:native raw push push-10k by pipe native:native raw call 1k-10k"], claim.Tests.Select(t => $"{t.Over} by {t.Under}"));
    }

    [Fact]
    public void WhatIsMissingIsNamedWithTheCommandThatMeasuresIt()
    {
        var claim = Claim(Where, "codec=custom", "codec=raw", least: "1.5");

        var none = Judge(claim, Report());
        Assert.Equal($"not testable here: not measured in these results: `scripts/ipc run --claim {claim.Id}` would", none.Verdict);
        Assert.Equal(2, none.Missing.Count);

        var unheardOf = Judge(Claim("transport=pipe pair=native:native codec=raw workload=64", "scenario=telepathy", "scenario=call", least: "1.5"), Report());
        Assert.Equal("not testable here: the lab has no scenario 'telepathy'", unheardOf.Verdict);

        var failed = Judge(claim, Report(Cell("pipe native:native raw call 1k-10k", 1000),
            Cell("pipe native:native custom call 1k-10k", 1000) with { Status = "failed", Reason = "HUNG" }));
        Assert.Equal("not testable here: failed: HUNG", failed.Verdict);

        Assert.Equal("not testable here: nobody can", Judge(Claim("", "", "", note: "nobody can"), Report()).Verdict);
    }

    [Fact]
    public void WhatRanUnderWineIsAnOrderOfCostAndNeverConfirmed()
    {
        CellResult[] cells = [Cell("msrpc-np native:native raw call 1k-10k", 5000), Cell("pipe native:native raw call 1k-10k", 1000)];
        var claim = Claim("pair=native:native codec=raw scenario=call workload=1k-10k", "transport=msrpc-np", "transport=pipe", least: "2", needs: "windows");
        var machines = Machines((null, new Pins(0, 1), cells), ("Wine 8.0", new Pins(0, 1), cells));

        foreach (var machine in machines)
        {
            var finding = Judge(claim, machine, machines);
            Assert.Equal(FindingKind.UnderWine, finding.Kind);
            Assert.StartsWith("order of cost under Wine: 5.", finding.Verdict, StringComparison.Ordinal);
            Assert.All(finding.Evidence, e => Assert.Equal("Wine 8.0", e.Over.Wine));
        }
        // Linux alone says nothing about Windows, even if its results had such cells.
        Assert.StartsWith("not testable here: not measured in these results: `scripts/ipc-windows run", Judge(claim, machines[0]).Verdict,
            StringComparison.Ordinal);
        // Wine's figures stay out of claims about anything else.
        Assert.Equal("run-0", Judge(claim with { Needs = "" }, machines[0], machines).Evidence.Single().Over.Folder);
        Assert.Equal("not testable here: no", Judge(claim with { Needs = "windows-itself", Note = "no" }, machines[0], machines).Verdict);
    }

    [Fact]
    public void PlacementsAndRunsAreNeverMixed()
    {
        var claim = Claim(Where, "codec=custom", "codec=raw", least: "1.5");
        var (near, far) = (Cell("pipe native:native custom call 1k-10k", 3000), Cell("pipe native:native raw call 1k-10k", 1000, placement: "far"));
        Assert.Empty(Judge(claim, Report(near, far)).Evidence);
        Assert.Contains("placement", Judge(claim, Report(near, far)).Verdict, StringComparison.Ordinal);

        // Of two placements each is told by itself, and may be what it depends on.
        static CellResult Both(string cell, double near, double far) => Cell(cell, near) with
        {
            EachLaunch = [.. Cell(cell, near).EachLaunch, .. Cell(cell, far, placement: "far").EachLaunch.Select(l => l with { Round = l.Round + Launches })],
        };
        var both = Judge(claim, Report(Both("pipe native:native custom call 1k-10k", 2000, 3000), Both("pipe native:native raw call 1k-10k", 1000, 3000)));
        Assert.Equal("depends on the placement: holds for near; not for far", both.Verdict);

        var apart = Machines((null, new Pins(0, 1), [near]), (null, new Pins(0, 1), [Cell("pipe native:native raw call 1k-10k", 1000)]));
        Assert.Contains("not measured in one run", Judge(claim, Assert.Single(apart)).Verdict, StringComparison.Ordinal);
    }

    [Fact]
    public void OnlySettledLaunchesCountAndFourAreTooFew()
    {
        CellResult Few(int settled) => Cell("pipe native:native custom call 1k-10k", 3000) with
        {
            EachLaunch = [.. Cell("pipe native:native custom call 1k-10k", 3000).EachLaunch.Select((l, i) => i < settled ? l : l with { Status = "unsteady" })],
        };
        var claim = Claim(Where, "codec=custom", "codec=raw", least: "1.5");

        Assert.Empty(Judge(claim, Report(Few(4), Cell("pipe native:native raw call 1k-10k", 1000))).Evidence);
        Assert.Equal("5 and 8", Judge(claim, Report(Few(5), Cell("pipe native:native raw call 1k-10k", 1000))).Evidence.Single().Launches);
    }

    [Theory, InlineData(0), InlineData(1)]
    public void ARunMadeForClaimsCountsFirstForThemAndLastElsewhere(int which)
    {
        CellResult[] Cells(double ratio) =>
            [Cell("pipe native:native custom call 1k-10k", 1000 * ratio), Cell("pipe native:native raw call 1k-10k", 1000)];
        var runs = Machines((null, new Pins(0, 1), Cells(which == 0 ? 2 : 1)), (null, new Pins(0, 1), Cells(which == 1 ? 2 : 1)))[0].Runs
            .Select((r, i) => i == which ? r with { Results = r.Results with { Run = r.Results.Run with { Preset = Presets.OfClaims } } } : r);
        var machine = MachineReport.Of(runs).Single();

        Assert.Equal("confirmed", Judge(Claim(Where, "codec=custom", "codec=raw", least: "1.5"), machine).Verdict.Split(',')[0]);
        Assert.All(machine.Cells, c => Assert.Equal(c.IsSuperseded, machine.Runs[c.Run].IsOfClaims));
    }

    [Fact]
    public void OneCpuHasNoPlacementAndMeetsThatOfTheOther()
    {
        var (two, one) = (Cell("pipe native:native raw call 64", 1000, placement: "near"), Cell("pipe native:native raw one-cpu 64", 1600, placement: null));
        var claim = Claim("transport=pipe pair=native:native codec=raw workload=64", "scenario=one-cpu", "scenario=call", least: "1.3", most: "2");

        Assert.Equal("confirmed, as large as published", Judge(claim, Report(two, one)).Verdict);
        Assert.EndsWith("run --claim x` would", Judge(claim, Report(two)).Verdict, StringComparison.Ordinal);
        // Cells of a run whose processes share a CPU all the same are no others' twins.
        var machines = Machines((null, new Pins(0, 0), [two, one]));
        Assert.EndsWith("(one CPU)", machines[0].Label, StringComparison.Ordinal);
        Assert.Empty(Judge(claim, machines[0]).Evidence);
    }

    [Fact]
    public void WhatWasKeptAwakeStandsByItself()
    {
        CellResult[] cells = [Cell("pipe native:native raw call 1k-10k", 1000), Cell("pipe native:native custom call 1k-10k", 2000)];
        var runs = Machines((null, new Pins(0, 1), cells), (null, new Pins(0, 1), cells))[0].Runs
            .Select((r, i) => i == 0 ? r : r with { Results = r.Results with { Run = r.Results.Run with { Awake = true } } });
        var machines = MachineReport.Of(runs);

        Assert.Equal(2, machines.Count);
        Assert.EndsWith("(kept awake)", machines[1].Label, StringComparison.Ordinal);
        var claim = Claim("transport=pipe pair=native:native scenario=call workload=1k-10k", "codec=custom", "codec=raw", least: "1.5");
        Assert.NotEmpty(Judge(claim, machines[0]).Evidence);
        Assert.Empty(Judge(claim, machines[1]).Evidence);
    }

    [Theory]
    [InlineData("figure=rate", "2000000", "", 3e6, "confirmed: reached on this machine")]
    [InlineData("figure=rate", "2000000", "", 1e6, "refuted: not reached on this machine")]
    [InlineData("figure=allocated", "", "0.1", 0, "confirmed: reached on this machine")]
    [InlineData("figure=allocated", "", "0.1", 24, "refuted: not reached on this machine")]
    public void ASingleFigureIsReachedOrNot(string figure, string least, string most, double value, string verdict)
    {
        var cell = Cell("queue managed:managed raw oneway oneway-32", 100, with: l => l with { OpsPerS = value, AllocatedBytesPerOp = value });

        Assert.Equal(verdict, Judge(Claim("transport=queue pair=managed:managed codec=raw scenario=oneway workload=oneway-32", figure, "", least: least,
            most: most), Report(cell)).Verdict);
    }

    [Fact]
    public void StepsOfTheCodecsAreAddedUpLaunchByLaunch()
    {
        CellResult Of(string side, double encode, double decode) => Cell($"none {side}:{side} custom serialize 1k-10k", 100, placement: null,
            with: l => l with { Phases = new Dictionary<string, double?> { ["encode_ns"] = encode + l.Round, ["decode_ns"] = decode } });
        var claim = Claim("transport=none codec=custom scenario=serialize workload=1k-10k figure=encode+decode", "pair=managed:managed", "pair=native:native",
            most: "1");

        var finding = Judge(claim, Report(Of("native", 1000, 1000), Of("managed", 3000, 5000)));
        Assert.Equal("refuted: the opposite holds", finding.Verdict);
        Assert.InRange(finding.Evidence.Single().Value, 3.9, 4.1);
        // Results that have them by cell only have nothing to make an interval of.
        Assert.Empty(Judge(claim, Report(Cell("none native:native custom serialize 1k-10k", 100),
            Cell("none managed:managed custom serialize 1k-10k", 100))).Evidence);
    }

    [Fact]
    public void TheReferenceRunMeasuresWhatTheClaimsAsk()
    {
        var measured = Presets.Get("reference").Cells().ToHashSet();
        var asked = PublishedClaims.All.Where(c => !c.NeedsWindows).SelectMany(c => c.Tests)
            .SelectMany(t => ((ClaimCell?[])[t.Over, t.Under]).OfType<ClaimCell>()).Select(c => c.Cell);

        Assert.Empty(asked.Except(measured));
        // Every word of them is one of the registry's.
        Assert.All(PublishedClaims.All.SelectMany(c => c.Tests).Select(t => t.Over.Cell).Concat(measured), c => Choices.Check(c, []));
    }

    [Theory]
    [InlineData("x,s,c,,,,,,,p,,", "no cells to test it and no note")]
    [InlineData("x,s,c,transport=pipe,figure=p50,,,1,,p,,", "no pair is named")]
    [InlineData("x,s,c,colour=red,codec=raw,codec=json,,1,,p,,", "'colour=red' is not AXIS=VALUE")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call workload=64,codec=raw,codec=json,,,,p,,", "neither the least nor the most")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call workload=64,codec=raw,codec=json,,0.5,2,p,,", "both sides of the line")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call workload=64,codec=raw,codec=json,,2,1.5,p,,", "its least is more than its most")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call workload=64,codec=raw figure=beauty,codec=json,,1,,p,,", "no figure 'beauty'")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call,\"codec=raw workload=1,2,3\",\"codec=json workload=1,2\",,1,,p,,", "go in step")]
    [InlineData("x,s,c,transport=pipe pair=a:b scenario=call workload=64,codec=raw,codec=json,,1,,p,mac,", "it needs 'mac'")]
    public void AClaimThatSaysNothingClearIsAMistakeThatNamesIt(string row, string told)
    {
        var mistake = Assert.Throws<UserMistakeException>(() => { Read(row); });
        Assert.StartsWith("claims.csv, 'x': ", mistake.Message, StringComparison.Ordinal);
        Assert.Contains(told, mistake.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("<!-- findings -->\nold", "is not closed")]
    [InlineData("nothing marked", "there is no place for a table")]
    public void APageIsFilledWhereItIsMarked(string text, string told)
    {
        var machine = Report(Cell("pipe native:native raw call 64", 1000));

        Assert.Contains(told, Assert.Throws<UserMistakeException>(() => FindingsPlaces.Fill(text, [machine], "")).Message, StringComparison.Ordinal);
        var filled = FindingsPlaces.Fill("before\n<!-- findings -->\nold\n<!-- /findings -->\nafter", [machine], "../");
        Assert.StartsWith("before\n<!-- findings -->\n\nMeasured on known", filled, StringComparison.Ordinal);
        Assert.EndsWith("<!-- /findings -->\nafter", filled, StringComparison.Ordinal);
        Assert.DoesNotContain("old", filled, StringComparison.Ordinal);
    }
}
