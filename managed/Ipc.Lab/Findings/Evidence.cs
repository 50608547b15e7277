namespace Ipc.Lab.Findings;

/// <summary>What one comparison says about a claim.</summary>
internal enum Standing
{
    /// <summary>On the claim's side, and at least part of the interval as large an effect as published.</summary>
    AsPublished,
    /// <summary>On the claim's side, a smaller effect than published.</summary>
    Smaller,
    /// <summary>On the claim's side, a larger effect than published.</summary>
    Larger,
    /// <summary>The interval holds no difference, and not the published effect.</summary>
    NoDifference,
    /// <summary>On the other side.</summary>
    Opposite,
    /// <summary>The interval holds both no difference and the published effect.</summary>
    Open,
}

/// <summary>One comparison that was measured.</summary>
/// <param name="Value">The ratio, or the figure of a claim about single figures.</param>
/// <param name="Interval">Its 95 % interval.</param>
/// <param name="Placement">The one placement that all its launches had; null where that has no meaning.</param>
/// <param name="Launches">Of each cell.</param>
/// <param name="FewestLaunches">The less of them.</param>
/// <param name="Over">Where the first cell was measured.</param>
internal sealed record Evidence(ClaimTest Test, double Value, double[] Interval, string? Placement, string Launches, int FewestLaunches,
    MeasuredIn Over, Standing Standing)
{
    public bool Holds => Standing is Standing.AsPublished or Standing.Smaller or Standing.Larger;

    /// <summary>What tells it from the others of its claim, the placement included.</summary>
    public string? AxisValue(string axis) => axis == "placement" ? Placement : Test.Axes.GetValueOrDefault(axis);

    public string Says => Standing switch
    {
        Standing.AsPublished => "holds",
        Standing.Smaller => "holds, smaller than published",
        Standing.Larger => "holds, larger than published",
        Standing.NoDifference => "no such difference",
        Standing.Opposite => "the opposite",
        _ => "cannot tell",
    };
}

/// <summary>The run a figure is from.</summary>
/// <param name="Folder">Its folder's name.</param>
/// <param name="Wine">The version, if it ran under Wine.</param>
internal sealed record MeasuredIn(string Folder, string? Wine);
