using System.CommandLine;
using System.Text.Json.Nodes;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Commands;

/// <summary>`ipc list`: what the registry holds.</summary>
internal static class ListCommand
{
    private static readonly string[] s_kinds = ["transports", "sides", "codecs", "scenarios", "workloads"];

    public static Command Create()
    {
        var kind = new Argument<string?>("kind") { Description = string.Join(", ", s_kinds) + "; all when left out", Arity = ArgumentArity.ZeroOrOne };
        var json = Options.Flag("--json", "the registry's own JSON");
        var command = new Command("list", "Lists transports, sides, codecs, scenarios and workloads.") { kind, json };
        command.SetAction(parsed => Write(Console.Out, parsed.GetValue(kind), parsed.GetValue(json)));
        return command;
    }

    /// <summary>Writes one kind, or all.</summary>
    public static int Write(TextWriter output, string? kind, bool asJson)
    {
        if (kind is not null && !s_kinds.Contains(kind))
            throw new UserMistakeException($"there is no list '{kind}'; the lists are {string.Join(", ", s_kinds)}");
        if (asJson)
            output.WriteLine(ToJson(kind));
        else
            foreach (var one in kind is null ? s_kinds : [kind])
                WriteKind(output, one, withHeading: kind is null);
        return ExitCodes.Success;
    }

    private static string ToJson(string? kind)
    {
        var registry = JsonNode.Parse(Registry.Json)!;
        return (kind is null ? registry : registry[kind]!).ToJsonString(LabJson.Indented);
    }

    private static void WriteKind(TextWriter output, string kind, bool withHeading)
    {
        var rows = RowsOf(kind).ToList();
        var width = rows.Max(r => r.Id.Length);
        if (withHeading)
            output.WriteLine(kind);
        foreach (var (id, text) in rows)
            output.WriteLine($"{(withHeading ? "  " : "")}{id.PadRight(width)}  {text}");
        if (withHeading)
            output.WriteLine();
    }

    private static IEnumerable<(string Id, string Text)> RowsOf(string kind) => kind switch
    {
        "transports" => Registry.Transports.SelectMany(RowsOf),
        "sides" => Registry.Sides.Select(s => (s.Id, s.Summary)),
        "codecs" => Registry.Codecs.Select(c => (c.Id, c.Summary)),
        "scenarios" => Registry.Scenarios.Select(s => (s.Id, s.Summary)),
        _ => Registry.Workloads.Select(w => (w.Id, $"{SizesOf(w)}; {string.Join(", ", w.Scenarios)}; {string.Join(", ", w.Codecs)}")),
    };

    // A transport, then each of its options, then each side that cannot be had here and why.
    private static IEnumerable<(string Id, string Text)> RowsOf(TransportEntry transport)
    {
        yield return (transport.Id, $"{transport.Summary} ({transport.Kind}; {string.Join(", ", transport.Platforms)})");
        foreach (var option in transport.Options)
            yield return ("", $"?{option.Name}={option.Choices ?? option.Kind}, usually {option.Default}: {option.Help}");
        foreach (var side in transport.Sides.Keys)
        {
            if (Registry.WhyNotAvailable(transport.Id, side) is { Length: > 0 } why)
                yield return ("", $"not for {side}: {why}");
        }
    }

    private static string SizesOf(WorkloadEntry workload) =>
        workload.Table is { } table ? $"rows of {table.File}"
        : workload.Text is { } text ? $"\"{text[0]}\" -> \"{text[1]}\""
        : $"{workload.RequestBytes} B -> {workload.ReplyBytes} B";
}
