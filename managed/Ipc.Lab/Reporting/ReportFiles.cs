using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Page;
using Ipc.Lab.Results;

namespace Ipc.Lab.Reporting;

/// <summary>Everything `ipc report` writes.</summary>
internal static class ReportFiles
{
    /// <summary>Writes the report into a folder, which is made if needed; the files' paths, the one to look at first in front.</summary>
    public static IReadOnlyList<string> Write(string folder, IReadOnlyList<MachineReport> machines)
    {
        try
        {
            Directory.CreateDirectory(folder);
            var files = new List<string>();
            foreach (var machine in machines)
                Add(PageWriter.FileNameOf(machine), file => AtomicFile.Write(file, PageWriter.Write(machine, [.. machines.Where(m => m != machine)])));
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
            throw new UserMistakeException($"the report cannot be written to '{folder}': {Sentence.Of(e)}; give a folder of yours with --out");
        }
    }
}
