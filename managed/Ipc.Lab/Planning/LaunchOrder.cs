using MathNet.Numerics;
using MathNet.Numerics.Random;

namespace Ipc.Lab.Planning;

/// <summary>The shuffled order in which a round launches its cells.</summary>
internal static class LaunchOrder
{
    /// <summary>The cells of one round; the same seed and round give the same order on every machine.</summary>
    public static IReadOnlyList<int> Of(Plan plan, int round)
    {
        var order = plan.Runnable().ToArray();
        var random = new MersenneTwister(unchecked((int)plan.Seed * 31 + round));
        Combinatorics.SelectPermutationInplace(order, random);
        return order;
    }
}
