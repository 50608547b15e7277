using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Launches that break the steady state on purpose, and what the lab says to them.</summary>
public sealed class SteadinessTests
{
    private static uint[] Samples(int count, Func<int, double> time)
    {
        var random = new Random(3);
        return [.. Enumerable.Range(0, count).Select(i => (uint)(time(i) * (0.9 + (0.2 * random.NextDouble()))))];
    }

    private static Usage Usage(long compiled) => new(0, 0, 0, 0, 0, 0, 0, 0, compiled);

    private static string? Why(uint[] samples, Warm? warm = null, long clientCompiled = 0, long? serverCompiled = null, long elapsedNs = 1) =>
        Steadiness.WhyUnsteady(warm ?? new Warm(3, 70_000, true, null, 1000, true), null, serverCompiled,
            new Measured(samples.Length, elapsedNs, 1, Usage(400), Usage(400 + clientCompiled)), samples);

    [Fact]
    public void ASteadyLaunchIsFine()
    {
        Assert.Null(Why(Samples(4000, _ => 1000)));
        Assert.Null(Why([1000, 1000, 3000]));
        // Peers that tell nothing, in another language, are believed.
        Assert.Null(Why(Samples(4000, _ => 1000), new Warm(3, 70_000)));
    }

    [Fact]
    public void APeerWhoseSpeedDriftsIsFoundOut()
    {
        Assert.Matches("^its operations became (1[5-9]|2[0-2]) % slower while it was measured$",
            Why(Samples(4000, i => 1000 + (i / 20.0)))!.Replace("\u00a0", " ", StringComparison.Ordinal));
        Assert.Contains("faster while it was measured", Why(Samples(4000, i => 1200 - (i / 20.0))), StringComparison.Ordinal);
    }

    // Whoever cannot keep a rate waits longer with every call; a stall that it caught up with is something else.
    [Fact]
    public void ARateThatWasNotKeptIsFoundOut()
    {
        const int calls = 10_000;
        var measured = new Measured(calls, 200_000_000, 1, Usage(400), Usage(400));
        Assert.Equal("it managed 50000 calls a second of the 100000 that were due, and was 100.0 ms behind in the end",
            Steadiness.WhyBehind(100_000, measured, [.. Enumerable.Range(1, calls).Select(i => (uint)(i * 10_000))]));
        Assert.Null(Steadiness.WhyBehind(50_000, measured, [.. Enumerable.Range(0, calls).Select(i => i is > 100 and < 200 ? 10_000_000u : 7_000u)]));
        Assert.Null(Steadiness.WhyBehind(0, measured, [.. Enumerable.Range(1, calls).Select(i => (uint)(i * 10_000))]));
    }

    [Fact]
    public void AStallOf100MillisecondsIsNoDrift() => Assert.Null(Why(Samples(4000, i => i == 2000 ? 1e8 : 1000)));

    [Fact]
    public void APeerThatIsFastOnlyUntilItIsMeasuredIsFoundOut() =>
        Assert.StartsWith("an operation took 400 ns at the end of the warm-up and ", Why(Samples(4000, _ => 1000), new Warm(3, 70_000, true, null, 400)),
            StringComparison.Ordinal);

    [Fact]
    public void WhoSaysThatItHasNotSettledIsBelieved() => Assert.Equal(
        "the client had not settled when its warm-up ended: it was still getting faster",
        Why(Samples(4000, _ => 1000), new Warm(3, 70_000, false, "it was still getting faster")));

    [Fact]
    public void ARuntimeThatCompilesMeanwhileIsFoundOutAtEitherEnd()
    {
        Assert.Equal("the client's runtime compiled 12 methods while it was measured", Why(Samples(4000, _ => 1000), clientCompiled: 12));
        Assert.Equal("the server's runtime compiled 40 methods while it was measured", Why(Samples(4000, _ => 1000), serverCompiled: 40));
        Assert.Null(Why(Samples(4000, _ => 1000), clientCompiled: 1, serverCompiled: 2));
        // Seconds give some seldom called methods time enough.
        Assert.Null(Why(Samples(4000, _ => 1000), clientCompiled: 12, elapsedNs: 5_000_000_000));
        Assert.NotNull(Why(Samples(4000, _ => 1000), serverCompiled: 40, elapsedNs: 5_000_000_000));
    }
}
