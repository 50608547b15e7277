using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Page;
using Ipc.Lab.Reporting.Svg;
using Ipc.Lab.Reporting.Workbook;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>Everything `ipc report` writes.</summary>
internal static class ReportFiles
{
    /// <summary>Writes pages and workbook into a folder, which is made if needed; the files' paths, the one to look at first in front.</summary>
    /// <param name="withMarkdown">Whether Markdown and its charts are written too; a run has its own results.md already.</param>
    public static IReadOnlyList<string> Write(string folder, IReadOnlyList<MachineReport> machines, bool withMarkdown = true)
    {
        try
        {
            Directory.CreateDirectory(folder);
            var files = new List<string>();
            foreach (var machine in machines)
                Add(PageWriter.FileNameOf(machine), file => AtomicFile.Write(file, PageWriter.Write(machine, [.. machines.Where(m => m != machine)])));
            Add(WorkbookWriter.FileName, file => WorkbookWriter.Write(file, machines));
            foreach (var machine in withMarkdown ? machines : [])
            {
                List<(string File, string Title)> charts = [];
                foreach (var question in Headlines(machine))
                {
                    var name = $"measurements.{machine.FileName}.{question.Workload}{(question.Objects ? ".objects" : "")}.svg";
                    Add(name, file => AtomicFile.Write(file, DecisionChart.Write(machine, question)));
                    charts.Add((name, question.Title));
                }
                Add($"measurements.{machine.FileName}.md", file => AtomicFile.Write(file, MachineMarkdown.Write(machine, charts, machines)));
            }
            return files;

            void Add(string name, Action<string> write)
            {
                var file = Path.Combine(folder, name);
                write(file);
                files.Add(file);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"the report cannot be written to '{folder}': {ErrorMessage.Of(e)}; give a folder of yours with --out");
        }
    }

    // Calls between the usual pair that have something to compare: a small one, and one of objects.
    private static IEnumerable<Question> Headlines(MachineReport machine)
    {
        var calls = Question.Of(machine, Question.UsualPair(machine)).Where(q => q.Scenario == "call" && q.Verdict.Ranked.Count > 1).ToList();
        var small = calls.FirstOrDefault(q => q is { Workload: "64", Objects: false }) ?? calls.FirstOrDefault(q => !q.Objects);
        var objects = calls.FirstOrDefault(q => q is { Workload: "1k-10k", Objects: true }) ?? calls.FirstOrDefault(q => q.Objects);
        return ((Question?[])[small, objects]).OfType<Question>();
    }
}
