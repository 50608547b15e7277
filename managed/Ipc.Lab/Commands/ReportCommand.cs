using System.CommandLine;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Commands;

/// <summary>`ipc report`: what was measured, as files people look at.</summary>
internal static class ReportCommand
{
    private static readonly Argument<string[]> s_folders = new("DIR") { Description = "folders of runs, or results.json files; of several machines if wished", Arity = ArgumentArity.OneOrMore };
    private static readonly Option<string?> s_out = Options.Text("--out", "folder to write to; the current one when omitted");
    private static readonly Option<string?> s_fill = Options.File("--fill", "Markdown file whose marked tables (<!-- measured: call raw 64 --> to <!-- /measured -->) are made anew");

    public static Command Create()
    {
        var command = new Command("report", "Writes a web page per machine, a workbook, Markdown and charts from the results of runs.") { s_folders, s_out, s_fill };
        command.SetAction(parsed => Run(parsed.GetValue(s_folders)!, parsed.GetValue(s_out) ?? ".", parsed.GetValue(s_fill)));
        return command;
    }

    private static int Run(string[] folders, string destination, string? filled)
    {
        if (destination.Length == 0)
            throw new UserMistakeException("--out needs a folder");
        var runs = folders.Select(f => Path.GetFullPath(f)).Distinct()
            .Select(f => new ReportRun(NameOf(f), ResultsReader.Read(f))).ToList();
        var machines = MachineReport.Of(runs);
        if (filled is not null)
            Fill(filled, machines);
        foreach (var file in ReportFiles.Write(destination, machines))
            Console.Out.WriteLine(file);
        return ExitCodes.Success;
    }

    private static void Fill(string file, IReadOnlyList<MachineReport> machines)
    {
        if (machines.Count != 1)
            throw new UserMistakeException($"--fill makes tables of one machine, and these are {machines.Count}: {string.Join(", ", machines.Select(m => m.Label))}");
        try
        {
            AtomicFile.Write(file, MeasuredTables.Fill(File.ReadAllText(file), machines[0]));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"--fill '{file}' cannot be filled: {ErrorMessage.Of(e)}");
        }
    }

    // The folder's own name; of a results.json the one it lies in.
    private static string NameOf(string path) =>
        Path.GetFileName(Directory.Exists(path) ? Path.TrimEndingDirectorySeparator(path) : Path.GetDirectoryName(path)!);
}
