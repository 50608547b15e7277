using System.CommandLine;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Findings;
using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;

namespace Ipc.Lab.Commands;

/// <summary>`ipc list`: what the registry holds, in lines that fit a terminal of 80 columns.</summary>
internal static class ListCommand
{
    private const string Transports = "transports";
    private const string Claims = "claims";
    private static readonly string[] s_kinds = [Transports, "sides", "codecs", "scenarios", "workloads", Claims];

    public static Command Create()
    {
        var kind = new Argument<string?>("kind") { Description = string.Join(", ", s_kinds) + "; all when omitted", Arity = ArgumentArity.ZeroOrOne };
        var name = new Argument<string?>("name")
        {
            Description = "one transport, with its options and where it cannot be had",
            Arity = ArgumentArity.ZeroOrOne
        };
        var json = Options.Flag("--json", "as JSON; but for claims, the registry's own");
        var command = new Command("list", "Lists transports, sides, codecs, scenarios, workloads and published claims.") { kind, name, json };
        command.SetAction(parsed => Write(Console.Out, parsed.GetValue(kind), parsed.GetValue(name), parsed.GetValue(json)));
        return command;
    }

    /// <summary>Writes one kind, or all; of the transports, one in full if it is named.</summary>
    public static int Write(TextWriter output, string? kind, string? name, bool asJson)
    {
        if (kind is not null)
            Choices.Check("list", kind, s_kinds);
        if (name is not null && kind != Transports)
            throw new UserMistakeException($"only transports are told one by one: `ipc list transports {name}`");
        var transport = name is null ? null : Registry.Transport(Choices.Check("transport", name, Grid.AllTransports));
        if (asJson)
            output.WriteLine(ToJson(kind, transport));
        else if (transport is not null)
            WriteInFull(output, transport);
        else
            WriteKinds(output, kind);
        return ExitCodes.Success;
    }

    private static string ToJson(string? kind, TransportEntry? transport)
    {
        if (kind == Claims)
        {
            return JsonSerializer.Serialize(PublishedClaims.All.Select(c => new
            {
                c.Id,
                c.Source,
                Claim = c.Text,
                c.Published,
                c.Note,
                Cells = c.Cells.Select(cell => cell.ToString()),
            }), LabJson.Indented);
        }
        var registry = JsonNode.Parse(Registry.Json)!;
        var asked = transport is not null ? registry[Transports]!.AsArray()
            .First(t => (string?)t!["id"] == transport.Id)! : kind is null ? registry : registry[kind]!;
        return asked.ToJsonString(LabJson.Indented);
    }

    private static void WriteKinds(TextWriter output, string? kind)
    {
        foreach (var one in kind is null ? s_kinds : [kind])
        {
            if (kind is null)
                output.WriteLine(one);
            WriteRows(output, [.. RowsOf(one)], indent: kind is null ? 2 : 0);
            if (kind is null)
                output.WriteLine();
        }
        if (kind is null or Transports)
            output.WriteLine("`ipc list transports NAME` tells the options of one, and where it cannot be had.");
    }

    private static void WriteRows(TextWriter output, IReadOnlyList<(string Id, string Text)> rows, int indent)
    {
        var width = rows.Max(r => r.Id.Length);
        foreach (var (id, text) in rows)
            TextLines.Write(output, new string(' ', indent) + id.PadRight(width) + "  ", text);
    }

    private static IEnumerable<(string Id, string Text)> RowsOf(string kind) => kind switch
    {
        Transports => Registry.Transports.Select(t => (t.Id, $"{t.Kind,-9}  {string.Join(", ", t.Platforms),-14}  {t.Summary}")),
        "sides" => Registry.Sides.Select(s => (s.Id, s.Summary)),
        "codecs" => Registry.Codecs.Select(c => (c.Id, c.Summary)),
        "scenarios" => Registry.Scenarios.Select(s => (s.Id, s.Summary)),
        Claims => PublishedClaims.All.Select(c => (c.Id, $"{c.Text} ({c.Source}: {c.Published})")),
        _ => Registry.Workloads.GroupBy(w => w.Group ?? w.Id).Select(g => (g.Key, g.First().Group is null ? TextOf(g.First()) : TextOf([.. g])))
            .Append((OwnSizes.Example, OwnSizes.Summary)),
    };

    private static void WriteInFull(TextWriter output, TransportEntry transport)
    {
        TextLines.Write(output, $"{transport.Id}  ", transport.Summary + (transport.Detail is { } detail ? $": {detail}" : ""));
        TextLines.Write(output, "  ", $"kind {transport.Kind}; {string.Join(", ", transport.Platforms)}; messages up to {transport.LargestMessage}");
        TextLines.Write(output, "  ", $"address: {transport.Id}://NAME, where NAME is: {transport.NameForm}");
        foreach (var option in transport.Options.Concat(Registry.CommonOptions))
            TextLines.Write(output, "  ", $"?{option.Name}={option.Choices ?? option.Kind}, default {option.Default}: {option.Help}", hanging: 6);
        foreach (var side in Registry.Sides.Select(s => s.Id))
        {
            if (Registry.WhyNotAvailable(transport.Id, side) is { Length: > 0 } why)
                TextLines.Write(output, "  ", $"not for {side}: {why}", hanging: 6);
        }
    }

    private static string TextOf(WorkloadEntry workload) =>
        $"{SizesOf(workload)}; {string.Join(", ", workload.Scenarios)}; {string.Join(", ", workload.Codecs)}";

    // A curve: one name for all its points, each of which has a name as well.
    private static string TextOf(IReadOnlyList<WorkloadEntry> curve)
    {
        var (first, last) = (curve[0], curve[^1]);
        var sizes = SizesOf(first) == SizesOf(last) ? SizesOf(first) : $"{SizesOf(first)} to {SizesOf(last)}";
        return $"{sizes}; {string.Join(", ", first.Scenarios)}; {string.Join(", ", first.Codecs)}; all of: {string.Join(", ", curve.Select(w => w.Id))}";
    }

    private static string SizesOf(WorkloadEntry workload) =>
        workload.Table is { } table ? $"rows of {table.File}"
        : workload.Text is { } text ? $"\"{text[0]}\" -> \"{text[1]}\""
        : $"{workload.RequestBytes} B -> {workload.ReplyBytes} B";
}
