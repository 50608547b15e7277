using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Findings;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting.Page;

/// <summary>What the page draws: the fields of results.json under their own names, without what is not known, rounded to what can be seen.</summary>
internal static class PageData
{
    // Figures of a cell that no part of the page shows.
    private static readonly string[] s_unseen = ["samples", "each_launch", "operations"];
    private static readonly string[] s_ofPlacement = ["placement", "p50_ns", "p50_ci", "launches", "line_ns"];
    private static readonly string[] s_ofLaunch =
        ["round", "status", "reason", "repeated", "placement", "line_ns", "operations", "p50_ns", "p99_ns", "max_ns", "floor_ratio"];

    public static JsonObject Figures(MachineReport machine, IReadOnlyList<MachineReport> others) => new()
    {
        ["label"] = machine.Label,
        ["banners"] = new JsonArray([.. machine.Banners().Select(b => (JsonNode)b)]),
        ["machine"] = Lean(JsonSerializer.SerializeToNode(machine.Machine, LabJson.Line)),
        ["runs"] = new JsonArray([.. machine.Runs.Select(Run)]),
        ["transports"] = Json(Registry.Transports.Select(t => new { t.Id, t.Kind, t.Summary })),
        ["sides"] = Json(Registry.Sides.Select(s => new { s.Id, Name = Names.Side(s.Id), s.Summary })),
        ["codecs"] = Json(Registry.Codecs.Select(c => new { c.Id, c.Objects })),
        ["scenarios"] = Json(Names.Scenarios.Select(s => new
        {
            s.Id,
            Name = Names.Scenario(s.Id),
            s.Summary,
            s.Receiver,
            s.IsStream,
            s.Clients,
            s.Batch,
            InFlight = s.InFlight > 0 ? s.InFlight : (int?)null
        })),
        ["workloads"] = Json(Workloads(machine).Select(w => new
        {
            w.Id,
            w.RequestBytes,
            w.ReplyBytes,
            w.Text,
            Bucket = w.Bucket > 1 || w.Group == "batch" ? w.Bucket : (int?)null,
            Rate = w.Rate > 0 ? w.Rate : (double?)null,
            w.Group
        })),
        ["cells"] = new JsonArray([.. machine.Cells.Select(CellOf)]),
        ["published"] = Json(PublishedTable.Compare(PublishedFigures.All, [.. machine.Cells.Where(c => !c.IsSuperseded).Select(c => c.Result)])),
        ["findings"] = Json(FindingsData.Of(machine, others)),
        ["others"] = new JsonArray([.. others.Select(o => Other(o))]),
    };

    // The registry's, and after them what was measured of sizes that only the user named.
    private static IEnumerable<WorkloadEntry> Workloads(MachineReport machine) =>
        Registry.Workloads.Concat(machine.Cells.Select(c => Choices.FindWorkload(c.Result.Workload)).OfType<WorkloadEntry>()).DistinctBy(w => w.Id);

    /// <summary>Every cell's launches, in the order of the cells: read only when a reader opens a cell.</summary>
    public static JsonArray Launches(MachineReport machine) =>
    [
        .. machine.Cells.Select(c => (JsonNode)new JsonArray([.. c.Result.EachLaunch.Select(l =>
            Lean(Only(JsonSerializer.SerializeToNode(l, LabJson.Line)!.AsObject(), s_ofLaunch)))])),
    ];

    private static JsonNode? CellOf(ReportCell cell)
    {
        var json = JsonSerializer.SerializeToNode(cell.Result, LabJson.Line)!.AsObject();
        foreach (var name in s_unseen)
            json.Remove(name);
        // One placement is the headline already.
        if (cell.Result.Placements.Count > 1)
            json["placements"] = new JsonArray([.. json["placements"]!.AsArray().Select(p => Only(p!.AsObject(), s_ofPlacement))]);
        else
            json.Remove("placements");
        if (cell.IsSuperseded)
            json["superseded"] = true;
        // What decides without intervals.
        if (SeenLaunches.Of(cell.Result) is { Count: > 0 } launches)
            json["seen"] = new JsonArray(launches.Count, launches.Least, launches.Greatest);
        return Lean(json);
    }

    private static JsonObject Run(ReportRun run)
    {
        var (facts, results) = (run.Results.Run, run.Results);
        return new JsonObject
        {
            ["folder"] = run.Folder,
            ["preset"] = facts.Preset,
            ["seed"] = facts.Seed,
            ["pins"] = facts.Pins.Describe(facts.Awake),
            ["launches"] = facts.Schedule.Launches,
            ["seconds"] = facts.Schedule.Seconds,
            ["warmup_seconds"] = facts.Schedule.WarmupSeconds,
            ["started"] = facts.Started.UtcDateTime.ToString("s", CultureInfo.InvariantCulture),
            ["floors"] = Lean(JsonSerializer.SerializeToNode(results.Floors, LabJson.Line)),
            ["floors_reason"] = results.FloorsReason,
            ["placements"] = Lean(JsonSerializer.SerializeToNode(results.Placements, LabJson.Line)),
        };
    }

    // Of another machine only medians of sound cells, for the one table that has both.
    private static JsonObject Other(MachineReport machine) => new()
    {
        ["label"] = machine.Label,
        ["page"] = Uri.EscapeDataString(PageWriter.FileNameOf(machine)),
        ["cells"] = new JsonObject(machine.Sound.Where(c => !c.IsAlone && c.Result.Count is null).Select(c => c.Result)
            .Select(c => KeyValuePair.Create($"{c.Transport} {c.Pair} {c.Scenario} {c.Workload} {c.Codec}", Lean(Json(new object?[] { c.P50Ns, c.P50Ci }))))),
    };

    private static JsonNode? Json<T>(T value) => Lean(JsonSerializer.SerializeToNode(value, LabJson.Line));

    private static JsonObject Only(JsonObject json, string[] names) =>
        new(names.Where(n => json[n] is not null).Select(n => KeyValuePair.Create(n, json[n]?.DeepClone())));

    // Without nulls of objects, and with five digits.
    private static JsonNode? Lean(JsonNode? json)
    {
        switch (json)
        {
            case JsonObject members:
                var kept = members.Where(m => m.Value is not null).Select(m => KeyValuePair.Create(m.Key, m.Value!)).ToList();
                members.Clear();
                return new JsonObject(kept.Select(m => KeyValuePair.Create(m.Key, Lean(m.Value))));
            case JsonArray items:
                var all = items.ToList();
                items.Clear();
                return new JsonArray([.. all.Select(Lean)]);
            case JsonValue value when value.TryGetValue<double>(out var number) && !double.IsInteger(number):
                return double.IsFinite(number) ? JsonValue.Create(Round(number)) : null;
            default:
                return json;
        }
    }

    private static double Round(double value)
    {
        if (value == 0)
            return 0;
        var scale = Math.Pow(10, Math.Floor(Math.Log10(Math.Abs(value))) - 4);
        return scale >= 1 ? Math.Round(value) : Math.Round(value, Math.Clamp((int)-Math.Log10(scale), 0, 15));
    }
}
