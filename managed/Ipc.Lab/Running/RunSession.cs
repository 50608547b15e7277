using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Running;

/// <summary>Carries a plan out, round by round, and keeps everything in the results folder as it comes.</summary>
internal sealed class RunSession(
    ResultsFolder folder, KeptPlan kept, Launcher launcher, FloorsProgram floorsProgram, IRunWatcher watcher)
{
    /// <summary>Why a launch of `--check` has no figures.</summary>
    public const string OnlyChecked = "every exchange was checked and none measured (--check)";

    private readonly Plan _plan = kept.Plan;
    // Names of launches are unique among all runs on the machine, so that leftovers can be told apart.
    private readonly string _runName = $"lab-{Guid.NewGuid():N}"[..16];
    private readonly Dictionary<string, JsonNode> _workloads = [];
    private readonly List<LaunchRecord> _launches = [.. folder.ReadLaunches()];
    private readonly List<FloorRecord> _floors = [.. folder.ReadFloors()];
    private readonly Stopwatch _clock = Stopwatch.StartNew();
    private readonly StealMeter _steal = new(SystemFiles.Real);
    private readonly RunSession? _twin;
    private RunSession? _other;
    private int _started;

    /// <summary>The run of another tree whose launches are made in turns with this one's; it plans the same cells.</summary>
    public RunSession? Twin
    {
        get => _twin;
        init
        {
            _twin = _other = value;
            value?._other = this;
        }
    }

    // By the clock of one tree: with two in turns everything takes twice as long, and the schedule is each one's.
    private double Elapsed => _clock.Elapsed.TotalSeconds / Trees;
    private int Trees => Twin is null ? 1 : 2;

    /// <summary>Runs what is missing. A stop ends the present launch, keeps what was measured and returns false.</summary>
    public async Task<bool> RunAsync(CancellationToken stop)
    {
        var runnable = _plan.Runnable().Count();
        var pace = new Pace(_plan.Schedule, runnable);
        try
        {
            for (var round = 0; round < _plan.Schedule.Launches; round++)
            {
                var todo = LaunchOrder.Of(_plan, round).Where(cell => !IsDone(cell, round) || Twin?.IsDone(cell, round) == false).ToList();
                if (todo.Count == 0)
                    continue;
                var rounds = pace.RoundsThatFit(round, Elapsed);
                if (rounds == 0)
                {
                    watcher.Note($"the last {_plan.Schedule.Launches - round} of {_plan.Schedule.Launches} rounds are left out to keep to the time; "
                        + $"each cell has {round} launches");
                    break;
                }
                await RunRoundAsync(round, todo, (rounds - 1) * runnable, pace, stop).ConfigureAwait(false);
                WriteResults();
                Twin?.WriteResults();
            }
            await MakeUpAsync(pace, stop).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>Writes results.json anew from everything kept, and returns it.</summary>
    public RunResults WriteResults()
    {
        var peers = launcher.Environments.Count > 0 ? launcher.Environments : kept.Machine.Peers;
        var machine = kept.Machine with { Peers = peers, StealPercent = _steal.Percent() };
        var results = ResultsBuilder.Build(folder, kept with { Machine = machine }, _launches, _floors, Placements(), DateTimeOffset.UtcNow);
        AtomicFile.Write(folder.ResultsFile, JsonSerializer.Serialize(results, LabJson.Indented));
        return results;
    }

    // Found in the launches of both trees together: the machine is one, and what is near in one half must be near in the other.
    private PlacementsBuilder Placements() => new(_launches.Concat(_other?._launches ?? []).Where(l => l.Status != "failed"));

    // Cells that have too few launches of any one placement for an interval (of two trees: too few that can be held against each other) are launched again, as
    // often as they were planned to be at most.
    private async Task MakeUpAsync(Pace pace, CancellationToken stop)
    {
        if (_plan.Schedule.ChecksOnly || _plan.Schedule.Launches < MedianInterval.LeastLaunches)
            return;
        for (var round = _plan.Schedule.Launches; round < 2 * _plan.Schedule.Launches; round++)
        {
            var lacking = WhereTooFew(round);
            if (lacking.Count == 0 || !pace.HasRoomForAnother(Elapsed))
                return;
            watcher.Note($"{lacking.Count} cells have fewer than {MedianInterval.LeastLaunches} "
                + $"{(Twin is null ? "launches of one placement" : "like launches in both trees")} and are launched again");
            await RunRoundAsync(round, lacking, 0, pace, stop).ConfigureAwait(false);
            WriteResults();
            Twin?.WriteResults();
        }
    }

    private List<int> WhereTooFew(int round)
    {
        var placements = Placements();
        RunSession[] both = Twin is null ? [this] : [this, Twin];
        return [.. LaunchOrder.Of(_plan, round)
            .Where(cell => Usable([.. both.Where(tree => !tree.IsDone(cell, round))], cell, placements) is < MedianInterval.LeastLaunches)];
    }

    // Of one tree: the launches of the commonest placement. Of two: how many pairs of like placement, whichever that is. Null where there is nothing to
    // be launched again.
    private static int? Usable(IReadOnlyList<RunSession> trees, int cell, PlacementsBuilder placements)
    {
        if (!trees.Any(tree => tree._launches.Any(l => l.Cell == cell)))
            return null;
        var counts = trees.Select(tree => tree._launches.Where(l => l.Cell == cell && l.Status == "ok" && !placements.Moved(l))
            .CountBy(l => placements.LabelOf(l) ?? "").ToDictionary()).ToList();
        return counts is [var one] ? one.Values.DefaultIfEmpty(0).Max() : counts[0].Sum(group => counts.Min(tree => tree.GetValueOrDefault(group.Key)));
    }

    private async Task RunRoundAsync(int round, List<int> todo, int launchesAfter, Pace pace, CancellationToken stop)
    {
        watcher.RoundStarts(round, Math.Max(round + 1, _plan.Schedule.Launches));
        if (_floors.Count == 0 && !_plan.Schedule.ChecksOnly)
            await MeasureFloorsAsync(round, stop).ConfigureAwait(false);
        for (var i = 0; i < todo.Count; i++)
        {
            var start = Elapsed;
            if (round >= _plan.Schedule.Launches && !pace.HasRoomForAnother(start))
                return;
            var launchesLeft = todo.Count - i + launchesAfter;
            var timing = pace.Next(launchesLeft, start);
            var ofEachTree = Twin is null ? timing : timing with { Seconds = (timing.Seconds + Twin.OwnSeconds(timing).Seconds) / Trees };
            watcher.LaunchStarts(_plan.Cells[todo[i]].Cell, i, todo.Count, TimeSpan.FromSeconds(Trees * pace.Remaining(ofEachTree, launchesLeft)));
            await LaunchInTurnAsync(todo[i], round, timing, stop).ConfigureAwait(false);
            pace.Learn(Elapsed - start, ofEachTree);
        }
    }

    // The trees take turns in being first: what the first of two has the better or the worse of, both have.
    private async Task LaunchInTurnAsync(int index, int round, LaunchTiming timing, CancellationToken stop)
    {
        RunSession[] order = Twin is null ? [this] : (index + round) % 2 == 0 ? [this, Twin] : [Twin, this];
        foreach (var session in order)
        {
            if (!session.IsDone(index, round))
                await session.LaunchAsync(index, round, session == this ? timing : session.OwnSeconds(timing), stop).ConfigureAwait(false);
        }
    }

    // Of the other tree: its launches may be told to take longer or shorter, in which case there is no budget that changes either.
    private LaunchTiming OwnSeconds(LaunchTiming others) =>
        _plan.Schedule.BudgetSeconds is null ? others with { Seconds = _plan.Schedule.Seconds } : others;

    // A cell that this tree cannot play has nothing to be done.
    private bool IsDone(int cell, int round) =>
        _plan.Cells[cell].SkipReason is not null || ResultsBuilder.IsDone(_launches.Where(l => l.Cell == cell), round);

    private void Keep(FloorRecord floors)
    {
        _floors.Add(floors);
        folder.Add(floors);
    }

    private async Task MeasureFloorsAsync(int round, CancellationToken stop)
    {
        var cells = _plan.Cells.Where(c => c.SkipReason is null && !c.Cell.IsAlone).Select(c => c.Cell).ToLookup(c => c.Scene.IsStream);
        if (cells.Count == 0)
            return;
        var workloads = cells[false].Select(c => c.Workload).Distinct();
        var oneWaySizes = cells[true].Select(c => Choices.WorkloadEntry(c.Workload).RequestBytes).Distinct();
        var floors = await floorsProgram.MeasureAsync(round, _plan.Pins, _plan.Schedule.FloorTiming, workloads, oneWaySizes, stop).ConfigureAwait(false);
        Keep(floors);
        Twin?.Keep(floors);
        if (floors.Reason is { } reason)
            watcher.Failed("floors", reason);
    }

    // A launch that is not ok is repeated, once: what was in its way may be over.
    private async Task LaunchAsync(int index, int round, LaunchTiming timing, CancellationToken stop)
    {
        var first = await LaunchOnceAsync(index, round, timing, stop).ConfigureAwait(false);
        if (_plan.Schedule.ChecksOnly)
        {
            // It did all it should; its times are of processes that nobody waited for.
            Keep(first.Status == "failed" ? first : first with { Status = "checked", Reason = OnlyChecked });
            return;
        }
        if (first.Status == "ok" && first.FloorsDiffer)
            first = first with { Status = "moved", Reason = LaunchFiguresBuilder.WhyMoved("the floor", first.FloorsAroundNs!) };
        else if (first.Status == "ok" && Placements().Moved(first))
            first = first with { Status = "moved", Reason = LaunchFiguresBuilder.WhyMoved("a cache line", first.LinesAroundNs!) };
        Keep(first);
        if (first.Status is "moved" or "unsteady")
            Keep(await LaunchOnceAsync(index, round, timing, stop).ConfigureAwait(false) with { Repeated = true });
    }

    private async Task<LaunchRecord> LaunchOnceAsync(int index, int round, LaunchTiming timing, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var cell = _plan.Cells[index].Cell;
        var task = new LaunchTask(
            cell, WorkloadOf(cell.Workload), $"{_runName}-{++_started}", _plan.Seed, _plan.Pins.For(cell.Scene), timing.For(cell.Load), folder.RawSamplesFile);
        try
        {
            var floor = FloorOfCell.Of(cell, _plan.Pins);
            var before = await FloorNowAsync(task.Pins, floor, stop).ConfigureAwait(false);
            var (done, samples) = await launcher.RunAsync(task, index, round, stop).ConfigureAwait(false);
            var after = await FloorNowAsync(task.Pins, floor, stop).ConfigureAwait(false);
            return done with
            {
                Samples = folder.KeepSamples(cell, round, samples),
                FloorsAroundNs = before?.FloorNs is { } first && after?.FloorNs is { } second ? [first, second] : null,
                LinesAroundNs = before?.LineNs is { } near && after?.LineNs is { } far ? [near, far] : null,
            };
        }
        catch (PeerFailure failure)
        {
            watcher.Failed(cell.ToString(), failure.Message);
            return LaunchRecord.Failed(index, round, failure);
        }
    }

    private void Keep(LaunchRecord record)
    {
        _launches.Add(record);
        folder.Add(record);
    }

    // Floors that cannot be measured are said once.
    private async Task<FloorNow?> FloorNowAsync(Pins pins, FloorOfCell? floor, CancellationToken stop)
    {
        if (floor is null || _plan.Schedule.ChecksOnly || _floors.Any(f => f.Reason is not null))
            return null;
        var now = await floorsProgram.MeasureNowAsync(pins, floor, stop).ConfigureAwait(false);
        if (now.Reason is not { } reason)
            return now;
        var failed = new FloorRecord(0, null, reason);
        _floors.Add(failed);
        folder.Add(failed);
        watcher.Failed("floors", reason);
        return null;
    }

    private JsonNode WorkloadOf(string id)
    {
        if (!_workloads.TryGetValue(id, out var workload))
            _workloads[id] = workload = PeerWorkloads.Of(id, _plan.Table);
        return workload;
    }
}
