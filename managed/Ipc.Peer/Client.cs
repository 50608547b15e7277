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

    /// <summary>From now on as it is measured; may be said again.</summary>
    public virtual void Begin(long ticks)
    {
    }

    /// <summary>Ends what is under way beyond the operations that were counted.</summary>
    public virtual void Finish()
    {
    }

    /// <summary>Processor time that went into waiting for the next operation to be due: no part of what it costs.</summary>
    public virtual long SpunTicks => 0;
}

/// <summary>The course of a client: first operation, warm-up, waiting for the word, measurement.</summary>
internal static class Client
{
    private const int HandoverMilliseconds = 10_000;

    public static void Run(Cell cell, Control control, Func<IpcChannel, Operation> prepare)
    {
        var begin = Clock.Now;
        OverChannel(cell, control, channel => Run(cell, control, prepare(channel), begin));
    }

    /// <summary>The same with an operation that has no connection, or makes its own.</summary>
    /// <param name="begin">When it began to connect.</param>
    public static void Run(Cell cell, Control control, Operation operation, long begin)
    {
        using var ending = operation as IDisposable;
        var warming = new Warming(cell, control, operation, begin);
        var warmth = warming.Run(again: true);
        while (!control.WaitForGoOrWarm())
            warmth = warming.RunOn();
        Measurement.Run(cell, operation, warmth.OperationsPerSecond).Report(cell, control);
    }

    /// <summary>Connects, does something and closes.</summary>
    public static void OverChannel(Cell cell, Control control, Action<IpcChannel> use)
    {
        var channel = CallTransports.Play(cell) ? CallTransports.Connect(cell, HandoverMilliseconds) : Sides.Connect(cell, HandoverMilliseconds);
        try
        {
            control.OnEnd(channel.Close);
            use(channel);
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
}

/// <summary>Warms a client up and says so, once or as often as it is asked to.</summary>
internal sealed class Warming
{
    private readonly Control _control;
    private readonly Operation _operation;
    private readonly WarmUp _warmUp;
    private readonly long _cold;
    private long _operations = 1;

    /// <summary>Does the first operation.</summary>
    /// <param name="begin">When it began to connect.</param>
    public Warming(Cell cell, Control control, Operation operation, long begin)
    {
        (_control, _operation) = (control, operation);
        _cold = operation.Once().End - begin;
        _warmUp = new WarmUp(operation, cell.WarmupSeconds, cell.SettleSeconds);
    }

    /// <param name="again">Whether to tell that it can go on.</param>
    public Warmth Run(bool again) => Say(_warmUp.Run(), again);

    /// <summary>The runner may already count what its server costs: it goes on at the pace that is measured.</summary>
    public Warmth RunOn()
    {
        _operation.Begin(Clock.Now);
        return Say(_warmUp.RunOn(), again: true);
    }

    private Warmth Say(Warmth warmth, bool again)
    {
        _operation.Finish();
        _operations += warmth.Operations;
        _control.Emit(
            new WarmEvent(_operations, Clock.ToNanoseconds(_cold), warmth.Unsettled is null, warmth.Unsettled, warmth.P50Ns, again),
            EventJson.Default.WarmEvent);
        return warmth;
    }
}
