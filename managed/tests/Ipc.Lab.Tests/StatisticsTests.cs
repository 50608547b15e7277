using Ipc.Lab.Statistics;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class StatisticsTests
{
    [Fact]
    public void PercentilesAreTheNearestRank()
    {
        uint[] ten = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

        Assert.Equal(50.0, Percentiles.At(ten, 5000));
        Assert.Equal(90.0, Percentiles.At(ten, 9000));
        Assert.Equal(100.0, Percentiles.At(ten, 9001));
        Assert.Equal(100.0, Percentiles.At(ten, 9900));
        Assert.Equal(10.0, Percentiles.At(ten, 1000));
        Assert.Equal(10.0, Percentiles.At(ten, 0));
    }

    [Fact]
    public void PercentilesOfManySamplesFallOnTheExactRank()
    {
        var numbers = Enumerable.Range(1, 1_000_000).Select(i => (uint)i).ToArray();

        Assert.Equal(500_000.0, Percentiles.At(numbers, 5000));
        Assert.Equal(990_000.0, Percentiles.At(numbers, 9900));
        Assert.Equal(999_000.0, Percentiles.At(numbers, 9990));
        Assert.Equal(999_900.0, Percentiles.At(numbers, 9999));
    }

    [Fact]
    public void OneSampleIsEveryPercentile() => Assert.Equal(7.0, Percentiles.At([7], 9999));

    [Fact]
    public void EqualSamplesOfASteppingClockAreReadBetweenItsSteps()
    {
        // True times of 96 to 104 ns under a clock that steps by 10: the more of them read 110, the later the median.
        Assert.Equal(100.0, Percentiles.At([90, 100, 100, 100, 110], 5000));
        Assert.Equal(98.0, Percentiles.At([90, 90, 100, 100, 100, 100, 100, 110], 5000), 9);
        Assert.Equal(102.0, Percentiles.At([90, 100, 100, 100, 100, 100, 110, 110, 110], 5000), 9);
        Assert.Equal(5.0, Percentiles.At([5, 5, 5, 5], 9999));
        Assert.True(Percentiles.At([90, 100, 100, 100, 100, 100], 5000) <= Percentiles.At([90, 100, 100, 100, 100, 100], 9000));
    }

    [Fact]
    public void MediansOfFewFigures()
    {
        Assert.Equal(2.0, Medians.Of([3, 1, 2]));
        Assert.Equal(2.5, Medians.Of([4, 1, 2, 3]));
        Assert.Null(Medians.Of([]));
    }
}
