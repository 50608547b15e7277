using CsCheck;
using Xunit.Abstractions;

namespace Ipc.Tests.CallOrders;

/// <summary>
/// Orders of calls that nobody thought of, over every transport, two threads, peers that die and stop, against a small model.
/// IPC_ORDERS_SECONDS says how long (10), IPC_ORDERS_SEED where to begin: a failure names the seed of its shortest order.
/// </summary>
public sealed class CallOrderTests(ITestOutputHelper output)
{
    private const int LongestOrder = 40;
    private const int Patience = 20_000;

    private static readonly Gen<(string Transport, uint[] Steps)> s_orders =
        Gen.Select(Gen.Int[0, Connection.Transports.Length - 1].Select(i => Connection.Transports[i]), Gen.UInt.Array[1, LongestOrder], (transport, steps) =>
            (transport, steps));

    [Fact]
    public void EveryOrderIsAnsweredAsTheModelSays()
    {
        var seconds = int.TryParse(Environment.GetEnvironmentVariable("IPC_ORDERS_SECONDS"), out var asked) ? asked : 10;
        var seed = Environment.GetEnvironmentVariable("IPC_ORDERS_SEED") is { Length: > 0 } given ? given : null;
        // What runs is written down before it does: an order that ends the process leaves itself there.
        var log = Path.Combine(Path.GetTempPath(), $"ipc-orders-{Environment.ProcessId}.log");
        var (orders, clock) = (0, System.Diagnostics.Stopwatch.StartNew());
        try
        {
            s_orders.Sample(order =>
            {
                File.WriteAllText(log, Text(order));
                Run(order.Transport, order.Steps);
                orders++;
            }, output.WriteLine, seed, time: seconds, threads: 1, print: Text);
        }
        finally
        {
            output.WriteLine($"{orders} orders in {clock.Elapsed.TotalSeconds:F1} s");
            File.Delete(log);
        }
    }

    private static string Text((string Transport, uint[] Steps) order) => $"{order.Transport}: [{string.Join(", ", order.Steps)}]";

    // On a thread of its own: a call that hangs must not take the test with it.
    private static void Run(string transport, uint[] order)
    {
        using var connection = new Connection(transport);
        var steps = new Steps(connection);
        Exception? failure = null;
        var thread = new Thread(() =>
        {
            try
            {
                steps.Run(order);
            }
            catch (Exception e)
            {
                failure = e;
            }
        })
        { IsBackground = true };
        thread.Start();
        if (!thread.Join(Patience))
            throw new TimeoutException($"hangs after\n{steps.Done}");
        if (failure is not null)
            throw new InvalidOperationException(failure.Message, failure);
    }
}
