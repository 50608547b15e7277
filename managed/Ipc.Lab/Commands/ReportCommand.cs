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

    public static Command Create()
    {
        var command = new Command("report", "Writes a web page per machine, a workbook, Markdown and charts from the results of runs.") { s_folders, s_out };
        command.SetAction(parsed => Run(parsed.GetValue(s_folders)!, parsed.GetValue(s_out) ?? "."));
        return command;
    }

    private static int Run(string[] folders, string destination)
    {
        if (destination.Length == 0)
            throw new UserMistakeException("--out needs a folder");
        var runs = folders.Select(f => Path.GetFullPath(f)).Distinct()
            .Select(f => new ReportRun(NameOf(f), ResultsReader.Read(f))).ToList();
        foreach (var file in ReportFiles.Write(destination, MachineReport.Of(runs)))
            Console.Out.WriteLine(file);
        return ExitCodes.Success;
    }

    // The folder's own name; of a results.json the one it lies in.
    private static string NameOf(string path) =>
        Path.GetFileName(Directory.Exists(path) ? Path.TrimEndingDirectorySeparator(path) : Path.GetDirectoryName(path)!);
}
