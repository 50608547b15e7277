using Ipc.Lab.Findings;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using MathNet.Numerics.Distributions;
using MathNet.Numerics.Random;

namespace Ipc.Lab.Tests.Findings;

/// <summary>Results whose truth is known, and claims about them.</summary>
internal static class KnownResults
{
    public const int Launches = 8;

    private static readonly MachineRecord s_machine = MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real)) with
    {
        Name = "known",
        Wine = null,
        System = "Linux"
    };

    /// <summary>A claim read from one row, as claims.csv has it.</summary>
    public static Claim Claim(string where, string over, string under, string line = "", string least = "", string most = "", string needs = "",
        string note = "") =>
        Read($"x,somebody,It is so,{where},{over},{under},{line},{least},{most},so much,{needs},{note}")[0];

    public static IReadOnlyList<Claim> Read(params string[] rows)
    {
        using var text = new MemoryStream(System.Text.Encoding.UTF8.GetBytes(
            $"id,source,claim,where,over,under,line,least,most,published,needs,note\n{string.Join('\n', rows)}\n"));
        return PublishedClaims.Read(text);
    }

    /// <summary>A cell whose launches' p50 is this, but for noise.</summary>
    /// <param name="noise">Of launches, in logarithms.</param>
    public static CellResult Cell(string cell, double p50, double noise = 0.01, int seed = 1, string? placement = "near",
        Func<LaunchFigures, LaunchFigures>? with = null)
    {
        var parts = cell.Split(' ');
        var random = new MersenneTwister(seed + cell.Sum(c => c));
        var launches = Enumerable.Range(0, Launches).Select(round => new LaunchFigures
        {
            Round = round,
            Status = "ok",
            Placement = placement,
            P50Ns = p50 * Math.Exp(noise > 0 ? Normal.Sample(random, 0, noise) : 0),
        });
        return new CellResult
        {
            Cell = new Cell(parts[0], parts[1], parts[2], parts[3], parts[4]),
            Status = "ok",
            Reason = null,
            EachLaunch = [.. launches.Select(l => with?.Invoke(l) ?? l)]
        };
    }

    public static MachineReport Report(params CellResult[] cells) => Machines((null, new Pins(0, 1), cells))[0];

    /// <summary>Runs of one machine, one after the other.</summary>
    public static IReadOnlyList<MachineReport> Machines(params (string? Wine, Pins Pins, CellResult[] Cells)[] runs) =>
        MachineReport.Of(runs.Select((run, i) => new ReportRun($"run-{i}", new RunResults
        {
            Schema = RunResults.CurrentSchema,
            Run = new RunFacts("chosen", 1, run.Pins, new Schedule(Launches, 0.1, 0.1, null), "release", DateTimeOffset.UnixEpoch.AddHours(i),
            DateTimeOffset.UnixEpoch, Launches, true),
            Machine = s_machine with { Wine = run.Wine },
            Floors = null,
            FloorsReason = null,
            Cells = run.Cells,
        })));

    public static Finding Judge(Claim claim, MachineReport machine, params IReadOnlyList<MachineReport> all) =>
        FindingsOf.Machine(machine, all, [claim]).Single();
}
