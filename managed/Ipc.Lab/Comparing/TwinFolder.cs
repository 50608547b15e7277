using Ipc.Lab.Results;

namespace Ipc.Lab.Comparing;

/// <summary>The folder of `ipc run --against`: two results folders, whose launches were made in turns.</summary>
internal static class TwinFolder
{
    public static string Base(string folder) => Path.Combine(folder, "base");

    public static string New(string folder) => Path.Combine(folder, "new");

    /// <summary>Whether a folder holds two runs made in turns.</summary>
    public static bool Is(string folder) =>
        File.Exists(new ResultsFolder(Base(folder)).PlanFile) && File.Exists(new ResultsFolder(New(folder)).PlanFile);

    /// <summary>Whether two results are of such a pair.</summary>
    public static bool AreTwins(RunResults first, RunResults second) => first.Run.Twin is { } twin && twin == second.Run.Twin;
}
