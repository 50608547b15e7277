namespace Ipc.Peer;

/// <summary>Scenario `paced`, the client: raw calls, so many a second. A call's time counts from when it was due, so that what holds one up is charged to all that come
/// due meanwhile; while it waits for the next to be due, the client sleeps and then spins. Its server is that of `call`.</summary>
internal sealed class PacedCall : Operation
{
    // Before a call is due the client must be awake: a sleeper is late by 50 to 100 microseconds, and by a clock tick of 15.6 ms on Windows.
    private static readonly long s_awakeBefore = Clock.After(0, OperatingSystem.IsWindows() ? 0.017 : 0.0003);

    private readonly IpcChannel _channel;
    private readonly RawExchange _exchange;
    private readonly double _ticksBetween;
    private bool _paced;
    private long _begin;
    private long _calls;
    private long _spun;

    public PacedCall(IpcChannel channel, RawPayloads payloads, WorkloadEntry workload)
    {
        if (!(workload.Rate > 0))
            throw Failure.BadCell($"workload '{workload.Id}' has no rate: scenario paced needs calls per second");
        (_channel, _exchange) = (channel, new RawExchange(payloads));
        _ticksBetween = Clock.After(0, 1) / workload.Rate;
    }

    public override long SpunTicks => _spun;

    /// <summary>The warm-up does not wait: it is there to get everything ready.</summary>
    public override void Begin(long ticks) => (_begin, _calls, _spun, _paced) = (ticks, 0, 0, true);

    public override Timing Once()
    {
        _exchange.Prepare();
        var due = _paced ? WaitUntilDue() : Clock.Now;
        _exchange.Call(_channel);
        var end = Clock.Now;
        return new Timing(end, end - due, _exchange.CheckReply());
    }

    // When the next call is due, which is not before now, unless that has passed.
    private long WaitUntilDue()
    {
        var due = _begin + (long)(++_calls * _ticksBetween);
        var left = due - Clock.Now;
        if (left <= 0)
            return due;
        var milliseconds = (int)(Clock.ToSeconds(left - s_awakeBefore) * 1000);
        if (milliseconds > 0)
            Thread.Sleep(milliseconds);
        // What others took from this thread meanwhile it has not spent.
        var spent = ResourceUsage.ThreadTicks();
        while (Clock.Now < due)
        {
        }
        _spun += ResourceUsage.ThreadTicks() - spent;
        return due;
    }
}
