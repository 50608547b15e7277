using Ipc.Lab.Reporting;

namespace Ipc.Lab.Advising;

/// <summary>The answer for people: the first choice, the others with their distance, what was excluded and why, and the lines that use it.</summary>
internal static class AdviceText
{
    public static void Write(TextWriter output, Advice advice)
    {
        var need = advice.Need;
        output.WriteLine($"{need.Pattern}, {need.Pair}, measured at workload {advice.Workload}"
            + $"{(advice.Evidence.Count > 0 ? $" in {advice.Evidence[0]}" : "")}"
            + $"{(advice.Measured is { } at ? $" on {at.ToLocalTime():yyyy-MM-dd}" : "")}");
        if (advice.OtherBuilds)
            TextLines.Write(output, "", "These figures are of other builds of the programs than those here; --measure measures again.");
        output.WriteLine();
        var width = advice.Ranking.Count > 0 ? advice.Ranking.Max(r => r.Transport.Length) : 0;
        foreach (var r in advice.Ranking)
        {
            var distance = r.Ratio is { } ratio ? $"; {Units.Ratio(ratio)} x [{string.Join(", ", r.RatioCi!.Select(v => Units.Ratio(v)))}]" : "";
            output.WriteLine($"  {r.Transport.PadRight(width)}  p50 {Units.Time(r.P50Ns)} [{Units.Interval(r.P50Ci, Units.Time)}]{distance}  {r.Verdict}");
            if (r.Why is { } why)
                TextLines.Write(output, new string(' ', width + 4), why);
        }
        if (advice.Ranking.Select(r => r.Placement).Distinct().Count() > 1)
            TextLines.Write(output, "  ", "Not all in the same placement: "
                + $"{string.Join(", ", advice.Ranking.Select(r => $"{r.Transport} {r.Placement ?? "unknown"}"))}. "
                + "So part of the difference is where the host put the processors.");
        if (advice.Ranking.Count == 0)
            output.WriteLine("  no transport meets all of these needs; the reasons:");
        output.WriteLine();
        output.WriteLine("Excluded:");
        // Many share their reason: one line each.
        foreach (var group in advice.Excluded.GroupBy(e => e.Why.Replace($"transport '{e.Transport}' ", "", StringComparison.Ordinal)))
            TextLines.Write(output, "  ", $"{string.Join(", ", group.Select(e => e.Transport))}: {group.Key}", hanging: 6);
        if (advice.Address is not { } address)
            return;
        var alike = advice.Ranking.Where(r => r.Verdict == Comparing.CellVerdict.NoDifference).Select(r => r.Transport).ToList();
        output.WriteLine();
        output.WriteLine($"Use {address}{(alike.Count > 0 ? $" ({string.Join(", ", alike)}: no difference)" : "")}");
        output.WriteLine();
        WriteLines(output, "server or receiver", need.Server, advice.ServerLines!);
        WriteLines(output, "client or sender", need.Client, advice.ClientLines!);
    }

    private static void WriteLines(TextWriter output, string who, string side, string lines)
    {
        output.WriteLine($"{who}, {(side == "native" ? "C++ (#include <ipc/ipc.hpp>)" : "C# (using Ipc;)")}:");
        foreach (var line in lines.Split(Environment.NewLine))
            output.WriteLine("    " + line);
        output.WriteLine();
    }
}
