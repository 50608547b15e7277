namespace Ipc.Peer;

/// <summary>One repetition.</summary>
/// <param name="End">The tick when its timed region ended.</param>
/// <param name="Ticks">The length of its timed region.</param>
/// <param name="Bytes">Payload moved, both ways.</param>
internal readonly record struct Timing(long End, long Ticks, long Bytes);

/// <summary>What is repeated and measured.</summary>
internal abstract class Operation
{
    /// <summary>Makes its payload before, and checks the outcome after, its timed region. A method of its own, so that the runtime can
    /// replace it by better code while the loop around it goes on.</summary>
    public abstract Timing Once();
}

/// <summary>The course of a client: first operation, warm-up, waiting for the word, measurement.</summary>
internal static class Client
{
    private const int HandoverMilliseconds = 10_000;

    public static void Run(Cell cell, Control control, Func<Channel, Operation> prepare)
    {
        var begin = Clock.Now;
        var channel = CallTransports.Play(cell) ? CallTransports.Connect(cell, HandoverMilliseconds) : Sides.Connect(cell, HandoverMilliseconds);
        try
        {
            control.OnEnd(channel.Close);
            var operation = prepare(channel);
            using var ending = operation as IDisposable;
            var warmth = Warm(cell, control, operation, begin);
            control.WaitForGo();
            Measurement.Run(cell, operation, warmth.OperationsPerSecond).Report(cell, control);
        }
        // The end of standard input closes the channel under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        finally
        {
            control.OnEnd(null);
            channel.Dispose();
        }
    }

    /// <summary>Warms up and says so.</summary>
    public static Warmth Warm(Cell cell, Control control, Operation operation, long begin)
    {
        var cold = operation.Once().End - begin;
        var warmth = new WarmUp(operation, cell.WarmupSeconds).Run();
        control.Emit(new WarmEvent(warmth.Operations + 1, Clock.ToNanoseconds(cold)), EventJson.Default.WarmEvent);
        return warmth;
    }
}
