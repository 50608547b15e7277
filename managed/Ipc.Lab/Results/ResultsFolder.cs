using System.Text.Json;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;

namespace Ipc.Lab.Results;

/// <summary>A round's floors, or why there are none: one line of floors.jsonl.</summary>
internal sealed record FloorRecord(int Round, FloorFigures? Figures, string? Reason);

/// <summary>What plan.json holds: the plan and the machine it was made on.</summary>
internal sealed record KeptPlan(Plan Plan, MachineRecord Machine);

/// <summary>The folder of one run. plan.json, launches.jsonl, floors.jsonl and samples/ are what happened; results.json and results.md follow from
/// them.</summary>
internal sealed class ResultsFolder(string path)
{
    public string Path { get; } = System.IO.Path.GetFullPath(path);
    public string PlanFile => In("plan.json");
    public string ResultsFile => In("results.json");
    public string MarkdownFile => In("results.md");
    /// <summary>Where the client of the present launch writes; gone when the launch is over.</summary>
    public string RawSamplesFile => In("samples/launch.u32");
    private string LaunchesFile => In("launches.jsonl");
    private string FloorsFile => In("floors.jsonl");

    /// <summary>Makes the folder and keeps the plan in it.</summary>
    public void Create(KeptPlan kept)
    {
        if (File.Exists(PlanFile))
            throw new UserMistakeException($"'{Path}' already holds a run; continue it with --resume '{Path}' or give another --out");
        try
        {
            Directory.CreateDirectory(In("samples"));
            AtomicFile.Write(PlanFile, JsonSerializer.Serialize(kept, LabJson.Indented));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"results cannot be written to '{Path}': {ErrorMessage.Of(e)}; give a folder of yours with --out");
        }
    }

    /// <summary>Keeps other runs out of the folder until disposed.</summary>
    public IDisposable Lock()
    {
        try
        {
            return new FileStream(In("lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None, 1, FileOptions.DeleteOnClose);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"'{Path}' is in use by another run or cannot be written ({ErrorMessage.Of(e)}); wait for that run to end");
        }
    }

    /// <summary>The plan of an earlier run; whoever wrote the file, it is complete and of things this lab knows.</summary>
    public KeptPlan ReadPlan()
    {
        try
        {
            using var document = JsonDocument.Parse(File.ReadAllText(PlanFile));
            if (SchemaOf(document.RootElement) is { } schema && schema != Plan.CurrentSchema)
                throw new UserMistakeException(
                    $"'{PlanFile}' was written by another version of the lab (schema {schema}, this one has {Plan.CurrentSchema}); start a new run");
            var kept = LabJson.Read<KeptPlan>(document.RootElement, LabJson.Complete);
            foreach (var planned in kept.Plan.Cells)
                Choices.Check(planned.Cell, kept.Plan.Peers);
            return kept;
        }
        catch (Exception e) when (e is DirectoryNotFoundException or FileNotFoundException)
        {
            throw new UserMistakeException($"there is no run to continue in '{Path}': no {System.IO.Path.GetFileName(PlanFile)} is there");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or JsonException)
        {
            throw new UserMistakeException(
                $"there is no run to continue in '{Path}': {System.IO.Path.GetFileName(PlanFile)} is not one of the lab's: {ErrorMessage.Of(e)}");
        }
        catch (UserMistakeException e)
        {
            throw new UserMistakeException($"'{PlanFile}' cannot be continued: {ErrorMessage.Of(e)}");
        }
    }

    private static int? SchemaOf(JsonElement root) =>
        root.ValueKind == JsonValueKind.Object && root.TryGetProperty("plan", out var plan) ? LabJson.SchemaOf(plan) : null;

    public void Add(LaunchRecord launch) => Append(LaunchesFile, launch);

    public void Add(FloorRecord floors) => Append(FloorsFile, floors);

    public IReadOnlyList<LaunchRecord> ReadLaunches() => ReadLines<LaunchRecord>(LaunchesFile);

    public IReadOnlyList<FloorRecord> ReadFloors() => ReadLines<FloorRecord>(FloorsFile);

    /// <summary>Keeps a launch's samples; the name as results refer to it.</summary>
    public string KeepSamples(Cell cell, int round, uint[] samples)
    {
        var name = $"samples/{cell.ToFileName()}.{round + 1}.u32.gz";
        if (File.Exists(In(name)))
            name = $"samples/{cell.ToFileName()}.{round + 1}.repeated.u32.gz";
        SampleFile.WriteCompressed(In(name), samples);
        return name;
    }

    public uint[] ReadSamples(string name) => SampleFile.ReadCompressed(In(name));

    private string In(string name) => System.IO.Path.Combine(Path, name);

    private static void Append<T>(string file, T record) =>
        File.AppendAllText(file, JsonSerializer.Serialize(record, LabJson.Line) + "\n");

    // A run that was cut off hard may have left half a last line: it never happened, and is cut off so that the next line stands alone.
    private static List<T> ReadLines<T>(string file) where T : class
    {
        if (!File.Exists(file))
            return [];
        var text = File.ReadAllText(file);
        var whole = text[..(text.LastIndexOf('\n') + 1)];
        if (whole.Length < text.Length)
            AtomicFile.Write(file, whole);
        return [.. whole.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select((line, index) => ReadLine<T>(file, line, index + 1))];
    }

    private static T ReadLine<T>(string file, string line, int number) where T : class
    {
        try
        {
            using var document = JsonDocument.Parse(line);
            return LabJson.Read<T>(document.RootElement, LabJson.Complete);
        }
        catch (JsonException e)
        {
            throw new UserMistakeException($"'{file}', line {number}, is not a record of this lab's: {ErrorMessage.Of(e)}; start a new run");
        }
    }
}
