using System.CommandLine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Commands;

/// <summary>`ipc run`: the command line, read into a request. What it does stands in <see cref="RunAction"/>.</summary>
internal static class RunCommand
{
    private static readonly Option<string?> s_preset = Options.Text("--preset",
        "which cells: " + string.Join("; ", Presets.All.Select(p => $"{p.Id}: {p.Summary}")) + ". quick when no cells are chosen");
    private static readonly Option<string?> s_claims = Options.List("--claim",
        "the cells by which docs/findings.md judges these claims, each launched 30 times; `ipc list claims` has them");
    private static readonly Option<string?> s_transports = Options.List("--transport", "transports, with options where needed (shm?wait=spin)");
    private static readonly Option<string?> s_pairs = Options.List("--pair", "server:client sides, e.g. native:managed");
    private static readonly Option<string?> s_codecs = Options.List("--codec", "codecs");
    private static readonly Option<string?> s_scenarios = Options.List("--scenario", "scenarios");
    private static readonly Option<string?> s_workloads = Options.List("--workload", $"workloads, or raw messages of your own sizes: {OwnSizes.Form}");
    private static readonly Option<int?> s_launches = Options.Number<int>("--launches", "launches of each cell");
    private static readonly Option<double?> s_seconds = Options.Number<double>("--seconds", "measured seconds of each launch", "S");
    private static readonly Option<double?> s_warmup = Options.Number<double>("--warmup",
        "seconds each launch warms up at least; one that has not settled goes on, for two seconds or five times as long at most", "S");
    private static readonly Option<string?> s_pin = Options.Text("--pin", "CPUs of server and client, e.g. 0,1; or none", "CPUS");
    private static readonly Option<bool> s_awake = Options.Flag("--awake",
        "keep idle processors from halting meanwhile, so that what sleeps is woken sooner and more evenly than usual (Linux, root); recorded, and "
            + "never mixed with other runs");
    private static readonly Option<long?> s_seed = Options.Number<long>("--seed",
        "decides the order of launches and the payloads; chosen and recorded when omitted");
    private static readonly Option<string?> s_out = Options.File("--out", "folder for the results; results/<time> in the current folder when omitted");
    private static readonly Option<string?> s_resume = Options.File("--resume", "go on with the interrupted run in this folder, or in that of --out",
        valueMayBeMissing: true);
    private static readonly Option<bool> s_json = Options.Flag("--json", "print results.json instead of tables");
    private static readonly Option<bool> s_all = Options.Flag("--all", "print every cell at the end, not only the summary");
    private static readonly Option<bool> s_allowDebug = Options.Flag("--allow-debug", "measure debug builds too, and label them as such");
    private static readonly Option<bool> s_check = Options.Flag("--check",
        "whether every cell works, not how fast: each is launched once and every exchange checked; no floors, no repeated launches, no figures");
    private static readonly Option<string?> s_against = Options.File("--against",
        "another built checkout: its launches alternate with this one's, and the two are compared at the end");
    private static readonly Option<double?> s_againstSeconds = Options.Number<double>("--against-seconds",
        "measured seconds of the other checkout's launches; with --against and this same checkout: whether longer launches give other figures", "S");
    private static readonly Option<string[]> s_peer = PeerOptions.Create();
    private static readonly TableOptions s_table = new();

    public static Command Create()
    {
        var command = new Command("run", "Measures cells: each as two real processes, several launches, in shuffled order.")
        {
            s_preset, s_claims, s_transports, s_pairs, s_codecs, s_scenarios, s_workloads, s_launches, s_seconds, s_warmup, s_pin, s_awake, s_seed, s_out,
            s_resume, s_json, s_all, s_check, s_against, s_againstSeconds, s_peer, s_allowDebug,
        };
        s_table.AddTo(command);
        command.SetAction((parsed, _) => RunAction.RunAsync(Request(parsed), Destination(parsed)));
        return command;
    }

    private static RunRequest Request(ParseResult parsed) => new()
    {
        Preset = parsed.GetValue(s_preset),
        Claims = parsed.Parts(s_claims),
        Transports = parsed.Parts(s_transports),
        Pairs = parsed.Parts(s_pairs),
        Codecs = parsed.Parts(s_codecs),
        Scenarios = parsed.Parts(s_scenarios),
        Workloads = parsed.Parts(s_workloads),
        Launches = parsed.GetValue(s_launches),
        Seconds = parsed.GetValue(s_seconds),
        WarmupSeconds = parsed.GetValue(s_warmup),
        Pin = parsed.GetValue(s_pin),
        Awake = parsed.GetValue(s_awake),
        Seed = parsed.GetValue(s_seed),
        Table = s_table.Read(parsed),
        Peers = PeerOptions.Read(parsed, s_peer),
        AllowDebug = parsed.GetValue(s_allowDebug),
        Check = parsed.GetValue(s_check),
        AgainstSeconds = parsed.GetValue(s_againstSeconds),
    };

    private static RunDestination Destination(ParseResult parsed)
    {
        var resumes = parsed.Has(s_resume);
        var folder = parsed.GetValue(s_resume) ?? parsed.GetValue(s_out);
        if (parsed.Has(s_check) && parsed.Has(s_against))
            throw new UserMistakeException("--check measures nothing that could be compared; omit --check or --against");
        if (parsed.Has(s_againstSeconds) && !parsed.Has(s_against))
            throw new UserMistakeException("--against-seconds needs the other checkout, which may be this one: --against DIR");
        if (!resumes)
            return new RunDestination(folder, Resume: false, parsed.GetValue(s_json), parsed.GetValue(s_all), parsed.GetValue(s_against));
        if (folder is null)
            throw new UserMistakeException("--resume needs the folder of the interrupted run: --resume DIR");
        foreach (var option in (Option[])[s_preset, s_claims, s_transports, s_pairs, s_codecs, s_scenarios, s_workloads, s_launches, s_seconds, s_warmup,
            s_pin, s_awake, s_seed, s_check, s_againstSeconds, s_table.File, s_peer])
        {
            if (parsed.Has(option))
                throw new UserMistakeException($"--resume goes on with the plan kept in '{folder}', which says what {option.Name} says; omit {option.Name}");
        }
        return new RunDestination(folder, Resume: true, parsed.GetValue(s_json), parsed.GetValue(s_all), parsed.GetValue(s_against));
    }
}

/// <summary>Where results go, and how they are shown.</summary>
/// <param name="Folder">Null: a new one below results/.</param>
/// <param name="All">Whether every cell is printed rather than what matters.</param>
/// <param name="Against">Another tree, whose launches alternate with this one's; null for none.</param>
internal sealed record RunDestination(string? Folder, bool Resume, bool Json, bool All, string? Against);
