using System.CommandLine;
using Ipc.Lab.Findings;
using Ipc.Lab.Reporting;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Results;

namespace Ipc.Lab.Commands;

/// <summary>`ipc report`: what was measured, as files people look at.</summary>
internal static class ReportCommand
{
    private static readonly Argument<string[]> s_folders =
        new("DIR") { Description = "folders of runs, or results.json files; they may be of several machines", Arity = ArgumentArity.OneOrMore };
    private static readonly Option<string?> s_out = Options.File("--out", "folder to write to; the current one when omitted");
    private static readonly Option<string[]> s_fill = new("--fill")
    {
        HelpName = "FILES",
        Description = "Markdown files whose marked tables (<!-- measured: call raw 64 --> to <!-- /measured -->) and findings (<!-- findings --> to "
            + "<!-- /findings -->) are rewritten",
        AllowMultipleArgumentsPerToken = true,
    };

    public static Command Create()
    {
        var command = new Command("report", "Writes a web page per machine, a workbook, Markdown and charts from the results of runs.") { s_folders, s_out,
            s_fill };
        command.SetAction(parsed => Run(parsed.GetValue(s_folders)!, parsed.GetValue(s_out) ?? ".", parsed.GetValue(s_fill) ?? []));
        return command;
    }

    private static int Run(string[] folders, string destination, string[] filled)
    {
        var runs = folders.DistinctBy(f => f.Length > 0 ? Path.GetFullPath(f) : f)
            .Select(f => new ReportRun(NameOf(f), ResultsReader.Read(f))).ToList();
        var machines = MachineReport.Of(runs);
        foreach (var file in filled)
            Fill(file, machines);
        foreach (var file in ReportFiles.Write(destination, machines))
            Console.Out.WriteLine(file);
        return ExitCodes.Success;
    }

    private static void Fill(string file, IReadOnlyList<MachineReport> machines)
    {
        if (string.IsNullOrWhiteSpace(file))
            throw new UserMistakeException("--fill names nothing; omit it or name one");
        try
        {
            AtomicFile.Write(file, FindingsPlaces.Fill(File.ReadAllText(file), machines, UpFrom(file)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"--fill '{file}' cannot be filled: {ErrorMessage.Of(e)}");
        }
    }

    // Pages of the tree lead to what stands at its root.
    private static string UpFrom(string file) =>
        Path.GetRelativePath(Path.GetDirectoryName(Path.GetFullPath(file))!, RepositoryRoot.Find() ?? ".")
            .Replace('\\', '/') is not "." and var up ? $"{up}/" : "";

    // The folder's own name; of a results.json the one it lies in.
    private static string NameOf(string path)
    {
        if (path.Length == 0)
            return path;
        var full = Path.GetFullPath(path);
        return Path.GetFileName(Directory.Exists(full) ? Path.TrimEndingDirectorySeparator(full) : Path.GetDirectoryName(full)!);
    }
}
