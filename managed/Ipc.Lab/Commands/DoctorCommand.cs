using System.CommandLine;
using System.Diagnostics;
using System.Text.Json;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Spectre.Console;

namespace Ipc.Lab.Commands;

/// <summary>`ipc doctor`: what on this machine will spoil a measurement, and how to mend it.</summary>
internal static class DoctorCommand
{
    private static readonly TimeSpan s_computing = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_watch = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan s_floorsBound = TimeSpan.FromSeconds(20);

    private sealed record Report(bool Possible, IReadOnlyList<Check> Checks, MachineRecord Machine, MachineCosts Costs);

    public static Command Create()
    {
        var json = Options.Flag("--json", "the checks and the machine as JSON");
        var command = new Command("doctor", "Says what on this machine will spoil a measurement, and how to mend it.") { json };
        command.SetAction(async (parsed, stop) => Show(await ExamineAsync(stop).ConfigureAwait(false), parsed.GetValue(json)));
        return command;
    }

    private static async Task<Report> ExamineAsync(CancellationToken stop)
    {
        var topology = CpuTopology.Read(SystemFiles.Real);
        var steal = new StealMeter(SystemFiles.Real);
        var costs = await MeasureCostsAsync(Programs.OfThisTree(), topology, stop).ConfigureAwait(false);
        var machine = MachineReader.Read(SystemFiles.Real, topology) with { StealPercent = steal.Percent() };
        var (programs, peers, binaries) = await ExamineProgramsAsync(Programs.OfThisTree(), stop).ConfigureAwait(false);
        machine = machine with { Peers = peers, Binaries = binaries };
        Check[] checks = [.. programs, PrivateFolder(), .. Doctor.Examine(machine, topology, StaleNames.Find(SystemFiles.Real), costs)];
        return new Report(checks.All(c => c.Status != "impossible"), checks, machine, costs);
    }

    // With one processor two that spin for each other say nothing of it; without the floors program the checks say what is missing.
    private static async Task<MachineCosts> MeasureCostsAsync(Programs programs, CpuTopology topology, CancellationToken stop)
    {
        var costs = await Task.Run(() => CostMeter.Measure(s_computing), stop).ConfigureAwait(false);
        var looks = new List<(double, double)>();
        var clock = Stopwatch.StartNew();
        try
        {
            if (topology.Allowed.Count < 2)
                return costs;
            var floors = new FloorsProgram(programs.Floors(), s_floorsBound);
            while (clock.Elapsed < s_watch && await floors.MeasureNowAsync(Pins.Choose(null, topology), FloorOfCell.WakeUp, stop)
                .ConfigureAwait(false) is { LineNs: { } line, FloorNs: { } futex })
                looks.Add((line, futex));
        }
        catch (UserMistakeException)
        {
        }
        return costs.With(looks, clock.Elapsed.TotalSeconds);
    }

    // Either language alone can still be measured; with no program that works, nothing can.
    private static async Task<(List<Check>, Dictionary<string, PeerEnvironment>, IReadOnlyList<BinaryHash>)> ExamineProgramsAsync(Programs programs,
        CancellationToken stop)
    {
        var checks = new List<Check>();
        var found = new List<(string Id, string? Side, ProgramFile Program)>();
        foreach (var (id, side, locate) in ((string, string?, Func<ProgramFile>)[])
            [("native-peer", "native", programs.NativePeer), ("managed-peer", "managed", programs.ManagedPeer), ("floors", null, programs.Floors)])
        {
            try
            {
                found.Add((id, side, locate()));
            }
            catch (UserMistakeException missing)
            {
                checks.Add(Check.Warn(id, "missing", missing.Message));
            }
        }
        var peers = await Preflight.AskAllAsync([.. found.Where(f => f.Side is not null).Select(f => (f.Side!, f.Program))], stop).ConfigureAwait(false);
        checks.AddRange(found.Select(f => Judge(f.Id, f.Program, f.Side, f.Side is null ? null : peers.GetValueOrDefault(f.Side))));
        if (peers.Count == 0)
            checks.Add(Check.Impossible("peers", "no peer program runs", "build them with `dotnet build ipc.sln -c Release`"));
        else if (checks.Any(c => c.Id == "floors" && c.Status != "ok"))
            checks.Add(Check.Impossible("floors-needed", "the floors cannot be measured, and every run measures them",
                "build them with `dotnet build ipc.sln -c Release`"));
        return (checks, peers, Programs.Hash([.. found.Select(f => f.Program)]));
    }

    private static Check Judge(string id, ProgramFile program, string? side, PeerEnvironment? environment)
    {
        if (side is null)
            return Check.Ok(id, program.Path);
        if (environment is null)
            return Check.Warn(id, $"'{program.Path}' does not introduce itself", "start it by hand and look at its standard error; then build it again");
        return environment.Build == "release"
            ? Check.Ok(id, $"{program.Path}, {environment.Runtime ?? environment.Compiler}")
            : Check.Warn(id, $"'{program.Path}' is a {environment.Build} build, whose speed says nothing",
                "build it in Release; `ipc run` refuses it without --allow-debug");
    }

    private static Check PrivateFolder()
    {
        if (!OperatingSystem.IsLinux())
            return Check.Ok("private-folder", "names stand in the system's own folders here");
        try
        {
            using var listener = ManagedIpc.Listen($"unix://doctor-{Guid.NewGuid():N}");
            return Check.Ok("private-folder", "a name can be made in it");
        }
        catch (IpcException e)
        {
            return Check.Warn("private-folder", e.Message, "without the folder no transport works that has names in the file system");
        }
    }

    private static int Show(Report report, bool json)
    {
        if (json)
            Console.Out.WriteLine(JsonSerializer.Serialize(report, LabJson.Indented));
        else
            WriteLines(Terminal.Output, report);
        return report.Possible ? ExitCodes.Success : ExitCodes.Failed;
    }

    private static void WriteLines(IAnsiConsole console, Report report)
    {
        var cpu = report.Machine.Cpu;
        console.MarkupLineInterpolated($"[bold]{report.Machine.Name}[/]: {cpu.Model}, {cpu.Cpus} CPUs; {report.Machine.System}");
        var grid = new Spectre.Console.Grid().AddColumn(new GridColumn().NoWrap().PadRight(1)).AddColumn();
        foreach (var check in report.Checks)
        {
            var colour = check.Status switch { "ok" => "green", "warning" => "yellow", _ => "red" };
            grid.AddRow($"[{colour}]{check.Status}[/]", Markup.Escape($"{check.Id}: {check.Finding}"));
            if (check.Cost is { } cost)
                grid.AddRow("", Markup.Escape($"here: {cost}"));
            if (check.Mend.Length > 0)
                grid.AddRow("", Markup.Escape($"-> {check.Mend}"));
        }
        console.Write(grid);
        console.MarkupLineInterpolated($"{(report.Possible ? "a measurement is possible" : "a measurement is impossible")}");
    }
}
