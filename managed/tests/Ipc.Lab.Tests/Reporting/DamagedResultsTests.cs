using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Comparing;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;
using Spectre.Console;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

/// <summary>A results.json that somebody has edited, or another lab has written: it is refused with an error message, or all is made of it.</summary>
public sealed class DamagedResultsTests : IDisposable
{
    // What a field holds instead; the last one is none at all.
    private static readonly string?[] s_values =
    [
        "null", "\"\"", "\"x\"", "-1", "0", "1e308", "-1e308", "9223372036854775808", "[]", "{}", "[null]", "[1, 2, 3]", "[2, 1]", "true", "\"a:b:c\"",
        "\"native\"", "\"shm?wait=never\"", "\"2026-13-45\"", "\"../../etc\"", "\"<script>|\"",
        "\"a\\u0001b\"", "\"\\u001b[2J\\uffff\"", null,
    ];

    private readonly TemporaryFolder _folder = new();
    private readonly RunResults _whole = new PlausibleResults(3).Run("box", 30);

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(1, 200)]
    public void AReportIsMadeOrRefused(int seed, int times)
    {
        var random = new Random(seed);
        List<string> found = [];
        var text = JsonSerializer.Serialize(_whole, LabJson.Indented);
        for (var time = 0; time < times; time++)
        {
            var damaged = JsonNode.Parse(text)!;
            var where = Damage(damaged, random);
            var file = _folder.Write("results.json", damaged.ToJsonString());
            try
            {
                MakeEverythingOf(ResultsReader.Read(file));
            }
            catch (UserMistakeException e)
            {
                Assert.Contains(file, e.Message, StringComparison.Ordinal);
            }
            catch (Exception e)
            {
                found.Add($"seed {seed}, time {time}, {where}: {e}");
            }
        }
        Assert.True(found.Count == 0, string.Join("\n", found));
    }

    [Fact]
    public void ACellThatIsThereTwiceIsRefused()
    {
        var text = JsonNode.Parse(JsonSerializer.Serialize(_whole, LabJson.Indented))!;
        var cells = text["cells"]!.AsArray();
        cells.Add(cells[0]!.DeepClone());
        var refused = Assert.Throws<UserMistakeException>(() => ResultsReader.Read(_folder.Write("results.json", text.ToJsonString())));
        Assert.Contains($"the cell {_whole.Cells[0].Cell} more than once", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void TextsAreShownWithoutWhatATerminalWouldObey()
    {
        var text = JsonNode.Parse(JsonSerializer.Serialize(_whole, LabJson.Indented))!;
        text["machine"]!["name"] = "a\u0001b \U0001F427";
        text["machine"]!["cpu"]!["model"] = "c\u001b[2J\uFFFFd";
        var results = ResultsReader.Read(_folder.Write("results.json", text.ToJsonString()));
        Assert.Equal("a\uFFFDb \U0001F427", results.Machine.Name);
        Assert.Equal("c\uFFFD[2J\uFFFDd", results.Machine.Cpu.Model);
        MakeEverythingOf(results);
    }

    private void MakeEverythingOf(RunResults results)
    {
        var machines = MachineReport.Of([new ReportRun("box", results)]);
        ReportFiles.Write(Path.Combine(_folder.Path, "report"), machines);
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(TextWriter.Null) });
        ConsoleReport.WriteTables(console, results);
        ConsoleReport.WriteLines(TextWriter.Null, results);
        ConsoleSummary.Write(console, machines[0]);
        PairMatrix.Write(console, results);
        var facts = new ComparedRun("box", results.Machine.Name, results.Run.Preset, results.Run.Started, true, 6);
        ComparisonText.WriteLines(TextWriter.Null, new Comparer(_whole, results, false).Compare(facts, facts), all: true);
    }

    // One field, at any depth, replaced or left out; which.
    private static string Damage(JsonNode root, Random random)
    {
        var at = root;
        while (true)
        {
            var keys = at is JsonObject o ? o.Select(p => p.Key).ToArray() : [.. Enumerable.Range(0, ((JsonArray)at).Count).Select(i => $"{i}")];
            var key = keys[random.Next(keys.Length)];
            var child = at is JsonObject parent ? parent[key] : at[int.Parse(key, null)];
            if (child is JsonObject { Count: > 0 } or JsonArray { Count: > 0 } && random.Next(8) > 0)
            {
                at = child;
                continue;
            }
            var value = s_values[random.Next(s_values.Length)];
            var path = $"{at.GetPath()} {key}";
            if (at is JsonObject fields)
            {
                if (value is null)
                    fields.Remove(key);
                else
                    fields[key] = JsonNode.Parse(value);
            }
            else
            {
                at[int.Parse(key, null)] = JsonNode.Parse(value ?? "null");
            }
            return $"{path} = {value ?? "(none)"}";
        }
    }
}
