namespace Ipc.Lab.Running;

/// <summary>Holds what a client claims against its samples, the runner's own clock and the server's count.</summary>
internal static class Claims
{
    /// <summary>Throws <see cref="PeerFailure"/> WRONG_FIGURES if a claim cannot be true.</summary>
    /// <param name="wall">Time between the runner's command and the claim's arrival.</param>
    /// <param name="count">Operations asked for, or null.</param>
    /// <param name="overlapping">Operations' times may overlap: several are in flight, or each counts from when it was due.</param>
    public static void Check(Measured measured, TimeSpan wall, uint[] samples, long? count, bool overlapping = false)
    {
        if (measured.Operations <= 0)
            throw Wrong($"{measured.Operations} operations were measured");
        if (measured.Operations != samples.Length)
            throw Wrong($"the client says it measured {measured.Operations} operations but wrote {samples.Length} samples");
        if (count is { } asked && asked != measured.Operations)
            throw Wrong($"{asked} operations were asked for and {measured.Operations} measured");
        if (measured.Bytes < 0)
            throw Wrong($"the client says it moved {measured.Bytes} bytes");
        var timed = samples.Sum(s => (long)s);
        // The median would then be made of the clock's steps.
        var zeros = samples.Count(s => s == 0);
        if (zeros * 2L > samples.Length)
            throw Wrong($"{zeros} of {samples.Length} operations took 0 ns by the client's clock: it is too coarse for them");
        // One clock tick of difference per operation is rounding, not a lie.
        if (overlapping && samples.Max() > measured.ElapsedNs)
            throw Wrong($"one sample is {samples.Max()} ns, more than the {measured.ElapsedNs} ns the client says it took for all");
        if (!overlapping && measured.ElapsedNs < timed - measured.Operations)
            throw Wrong($"the samples add up to {timed} ns, more than the {measured.ElapsedNs} ns the client says it took");
        if (measured.ElapsedNs > wall.TotalNanoseconds * 1.01)
            throw Wrong($"the client says it took {measured.ElapsedNs} ns, but only {wall.TotalNanoseconds:0} ns passed");
    }

    /// <summary>Throws if the server has served less than the client says it called; a client may call a little more than it measures.</summary>
    public static void CheckServed(long served, Warm warm, Measured measured)
    {
        if (warm.Operations < 0 || served < warm.Operations + measured.Operations)
            throw Wrong($"the server served {served} exchanges, the client counts {warm.Operations} in warm-up and {measured.Operations} measured");
    }

    private static PeerFailure Wrong(string what) => new("WRONG_FIGURES", what);
}
