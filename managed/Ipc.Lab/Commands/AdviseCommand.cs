using System.CommandLine;
using System.Text.Json;
using Ipc.Lab.Advising;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Spectre.Console;

namespace Ipc.Lab.Commands;

/// <summary>`ipc advise`: which transport, for what is needed, by what was measured here; and the lines that use it.</summary>
internal static class AdviseCommand
{
    private const int Launches = 6;
    private static readonly TimeSpan s_floorsBound = TimeSpan.FromMinutes(5);

    private static readonly Option<string?> s_pattern = Options.Text("--pattern",
        string.Join(", ", Need.Patterns) + " (one way, from many); calls when omitted");
    private static readonly Option<int?> s_request = Options.Number<int>("--request", "bytes of a request or message; 1000 when omitted", "BYTES");
    private static readonly Option<int?> s_reply = Options.Number<int>("--reply", "bytes of a reply; 10000 when omitted", "BYTES");
    private static readonly Option<double?> s_rate = Options.Number<double>("--rate",
        "messages a second it must keep up with; as fast as possible when omitted");
    private static readonly Option<string?> s_server = Options.Text("--server",
        "side of the server or receiver: native (C++), managed (.NET), ...; native when omitted", "SIDE");
    private static readonly Option<string?> s_client = Options.Text("--client", "side of the client or sender; managed when omitted", "SIDE");
    private static readonly Option<string?> s_platform = Options.Text("--platform", "linux, windows or both; this system when omitted");
    private static readonly Option<bool> s_anyUser = Options.Flag("--any-user", "other users of the machine need not be kept out");
    private static readonly Option<bool> s_mayHang = Options.Flag("--crash-is-fatal", "neither end needs to survive a crash of the other");
    private static readonly Option<bool> s_network = Options.Flag("--network", "the ends may be on two machines later");
    private static readonly Option<bool> s_core = Options.Flag("--spare-core", "a processor may be kept busy while nothing happens");
    private static readonly Option<string?> s_from = Options.File("--from",
        "results to use: the folder of a run, or one that holds runs; ./results when omitted");
    private static readonly Option<bool> s_measure = Options.Flag("--measure", "measure again even if there are results");
    private static readonly Option<bool> s_json = Options.Flag("--json", "the whole answer as JSON");

    public static Command Create()
    {
        var command = new Command("advise", "Says which transport fits, by measurements of this machine, and how to use it; without options it asks.")
        {
            s_pattern, s_request, s_reply, s_rate, s_server, s_client, s_platform, s_anyUser, s_mayHang, s_network, s_core, s_from, s_measure, s_json,
        };
        command.SetAction(async (parsed, _) =>
        {
            var says = command.Options.Any(o => parsed.Has(o));
            var need = (says || Console.IsInputRedirected || Console.IsOutputRedirected ? Read(parsed) : Ask()).Check();
            using var interruption = new Interruption();
            try
            {
                var advice = await AdviseAsync(need, parsed.GetValue(s_from), parsed.GetValue(s_measure), interruption.Stop).ConfigureAwait(false);
                if (parsed.GetValue(s_json))
                    Console.Out.WriteLine(JsonSerializer.Serialize(advice, LabJson.Indented));
                else
                    AdviceText.Write(Console.Out, advice);
                return advice.Address is null ? ExitCodes.Failed : ExitCodes.Success;
            }
            catch (OperationCanceledException)
            {
                return ExitCodes.Interrupted;
            }
        });
        return command;
    }

    private static Need Read(ParseResult parsed) => new(
        parsed.GetValue(s_pattern) ?? "calls", parsed.GetValue(s_request) ?? 1000, parsed.GetValue(s_reply) ?? 10_000, parsed.GetValue(s_rate),
        parsed.GetValue(s_server) ?? "native", parsed.GetValue(s_client) ?? "managed", parsed.GetValue(s_platform) ?? Registry.Platform,
        KeepOut: !parsed.GetValue(s_anyUser), SurviveCrash: !parsed.GetValue(s_mayHang), parsed.GetValue(s_network), parsed.GetValue(s_core));

    private static Need Ask()
    {
        var console = AnsiConsole.Console;
        var sides = Registry.Sides.Select(s => s.Id).ToList();
        var pattern = console.Prompt(new SelectionPrompt<string>().Title("What do the processes do? (clients: many send to one)").AddChoices(Need.Patterns));
        var request = console.Prompt(new TextPrompt<int>("Bytes of a request or message?").DefaultValue(1000));
        var reply = pattern == "calls" ? console.Prompt(new TextPrompt<int>("Bytes of a reply?").DefaultValue(10_000)) : 0;
        var rate = console.Prompt(new TextPrompt<double>("Messages a second it must keep up with? (0: as fast as possible)").DefaultValue(0));
        var server = console.Prompt(new SelectionPrompt<string>().Title("How is the server or receiver written? (native: C++, managed: .NET)")
            .AddChoices(sides));
        var client = console.Prompt(new SelectionPrompt<string>().Title("And the client or sender?").AddChoices(sides));
        var platform = console.Prompt(new SelectionPrompt<string>().Title("On which system?")
            .AddChoices([Registry.Platform, .. Need.Platforms.Where(p => p != Registry.Platform)]));
        return new Need(
            pattern, request, reply, rate > 0 ? rate : null, server, client, platform,
            console.Confirm("Must other users of the machine be kept out?"), console.Confirm("Must either end survive a crash of the other?"),
            console.Confirm("May the ends be on two machines later?", defaultValue: false),
            console.Confirm("May a processor be kept busy while nothing happens?", defaultValue: false));
    }

    private static async Task<Advice> AdviseAsync(Need need, string? from, bool measure, CancellationToken stop)
    {
        if (measure && from is not null)
            throw new UserMistakeException("--from takes earlier results and --measure takes none: leave one of them out");
        var runs = measure ? null : Evidence.RunsIn(from);
        var programs = Programs.OfThisTree();
        var (candidates, excluded) = Candidates.Of(need, programs);
        Evidence.Measured? evidence = null;
        if (candidates.Count > 0)
        {
            var topology = CpuTopology.Read(SystemFiles.Real);
            var earlier = runs is null ? null
                : Evidence.Find(runs, from, need, candidates, MachineReader.Read(SystemFiles.Real, topology), Pins.Choose(null, topology));
            if (earlier is null && from is not null)
                Console.Error.WriteLine($"no run in '{from}' answers this for this machine, so it is measured now:");
            evidence = earlier ?? await MeasureAsync(need, candidates, stop).ConfigureAwait(false);
        }
        var cells = evidence?.Cells ?? [];
        var (ranking, fell) = Ranking.Of(need, candidates, cells);
        var address = ranking.Count > 0 ? AddressOf(ranking[0].Transport) : null;
        // From other machines a listener is reached at another address than 127.0.0.1, and nothing tells whose the client is.
        var listening = need.Network ? address?.Replace("127.0.0.1", "0.0.0.0", StringComparison.Ordinal) + "?users=any" : address;
        var kind = address is null ? "" : Registry.Transport(TransportSpec.IdOf(ranking[0].Transport)).Kind;
        return new Advice(
            1, need, cells.Count > 0 ? cells[0].Workload : need.OwnWorkload.Id, evidence is null ? [] : [evidence.Folder], ranking, [.. excluded, .. fell],
            address,
            address is null ? null : UsageLines.For(kind, need.Scenario, "server", need.Server, listening!),
            address is null ? null : UsageLines.For(kind, need.Scenario, "client", need.Client, address))
        {
            Measured = evidence?.Results.Run.Written,
            OtherBuilds = evidence?.IsOfOtherBuilds(need, programs) == true,
        };
    }

    private static string AddressOf(string spec) => TransportSpec.ToAddress(spec, "orders").Replace("127.0.0.1:0", "127.0.0.1:5055", StringComparison.Ordinal);

    // About a minute: every candidate by six short launches, in shuffled rounds as every run.
    private static async Task<Evidence.Measured> MeasureAsync(Need need, IReadOnlyList<Candidate> candidates, CancellationToken stop)
    {
        var folder = Path.GetFullPath(Path.Combine("results",
            "advise-" + DateTime.Now.ToString("yyyyMMdd-HHmmss", System.Globalization.CultureInfo.InvariantCulture)));
        var request = new RunRequest
        {
            Transports = [.. candidates.Select(c => c.Spec)],
            Pairs = [need.Pair],
            Codecs = ["raw"],
            Scenarios = [need.Scenario],
            Workloads = [need.OwnWorkload.Id],
            Launches = Launches,
            Seconds = 0.1,
            WarmupSeconds = 0.1,
        };
        var run = (await PreparedRun.StartAsync(folder, request, null, stop).ConfigureAwait(false))[0];
        using var alone = run.Folder.Lock();
        var progress = ProgressReport.ForThisConsole();
        foreach (var line in PlanText.Describe(run.Kept.Plan, folder))
            progress.Note(line);
        var session = new RunSession(run.Folder, run.Kept, new Launcher(run.Programs, LaunchBounds.Usual),
            new FloorsProgram(run.Programs.Floors(), s_floorsBound), progress);
        if (!await session.RunAsync(stop).ConfigureAwait(false))
            throw new OperationCanceledException(stop);
        progress.Finish();
        var results = session.WriteResults();
        return new Evidence.Measured(folder, results, results.Cells);
    }
}
