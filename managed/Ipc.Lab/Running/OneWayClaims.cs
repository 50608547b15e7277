namespace Ipc.Lab.Running;

/// <summary>Holds what the two ends of one-way messages counted against each other. That each message was right, its receiver has checked.</summary>
internal static class OneWayClaims
{
    /// <summary>Throws <see cref="PeerFailure"/> WRONG_CONTENT if messages were lost or doubled on the way.</summary>
    /// <param name="sent">By sender.</param>
    /// <param name="received">By receiver: each must have got, or been told that it lost, all that was sent.</param>
    public static void CheckArrived(string stretch, IReadOnlyList<long> sent, IReadOnlyList<Received> received)
    {
        var total = sent.Sum();
        foreach (var one in received)
        {
            if (one.Lost < 0 || one.Operations + one.Lost != total)
            {
                throw new PeerFailure(
                    "WRONG_CONTENT",
                    $"{total} messages were sent in the {stretch} and {one.Operations} received"
                    + $"{(one.Lost != 0 ? $" ({one.Lost} more reported lost)" : "")}: the transport lost or doubled some");
            }
        }
    }

    /// <summary>Throws WRONG_FIGURES if a claim cannot be true.</summary>
    /// <param name="wall">Time between the runner's command and the last claim's arrival.</param>
    /// <param name="count">Messages asked of each sending process, or null.</param>
    public static void Check(IReadOnlyList<Measured> sent, IReadOnlyList<Received> received, TimeSpan wall, uint[] samples, long? count)
    {
        foreach (var one in received)
        {
            if (one.Operations <= 0)
                throw Wrong($"{one.Operations} messages were received");
            if (one.Bytes < 0)
                throw Wrong($"a receiver says it got {one.Bytes} bytes");
            if (one.ElapsedNs <= 0 || one.ElapsedNs > wall.TotalNanoseconds * 1.01)
                throw Wrong($"a receiver says it took {one.ElapsedNs} ns, but {wall.TotalNanoseconds:0} ns passed");
        }
        if (count is { } asked && sent.FirstOrDefault(m => m.Operations != asked) is { } other)
            throw Wrong($"{asked} messages were asked for and {other.Operations} sent");
        if (samples.Length == 0 || samples.Length > received.Sum(r => r.Operations))
            throw Wrong($"{samples.Length} samples were written for {received.Sum(r => r.Operations)} messages");
        if (samples.Any(s => s == 0))
            throw Wrong("a sample is 0");
    }

    /// <summary>Of each message the time until its last receiver had it. Throws WRONG_FIGURES where nobody can say that of every message.</summary>
    /// <param name="samples">By receiver: of each message the time until that one had it.</param>
    public static uint[] UntilTheLast(IReadOnlyList<Received> received, IReadOnlyList<uint[]> samples)
    {
        if (received.Sum(r => r.Lost) is > 0 and var lost)
            throw Wrong($"{lost} messages were lost, so nobody can say when the last receiver had them: choose policy=wait, or a lower rate");
        for (var i = 0; i < samples.Count; i++)
        {
            if (samples[i].Length != received[i].Operations)
                throw Wrong($"client {i + 1} timed {samples[i].Length} of {received[i].Operations} messages");
        }
        var last = new uint[samples[0].Length];
        foreach (var one in samples)
        {
            for (var i = 0; i < last.Length; i++)
                last[i] = Math.Max(last[i], one[i]);
        }
        return last;
    }

    private static PeerFailure Wrong(string what) => new("WRONG_FIGURES", what);
}
