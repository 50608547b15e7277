namespace Ipc.Peer;

/// <summary>Scenario `paced`, the client: raw calls, so many a second. A call's time counts from when it was due, so that what holds one up is charged
/// to all that come due meanwhile; while it waits for the next to be due, the client sleeps and then spins. Its server is that of `call`.</summary>
internal sealed class PacedCall : Operation
{
    private readonly IpcChannel _channel;
    private readonly RawExchange _exchange;
    private readonly Pacer _pacer;
    private bool _paced;

    public PacedCall(IpcChannel channel, RawPayloads payloads, WorkloadEntry workload)
    {
        if (!(workload.Rate > 0))
            throw Failure.BadCell($"workload '{workload.Id}' has no rate: scenario paced needs calls per second");
        (_channel, _exchange) = (channel, new RawExchange(payloads));
        _pacer = new Pacer(workload.Rate);
    }

    public override long SpunTicks => _pacer.SpunTicks;

    /// <summary>The warm-up does not wait: it is there to get everything ready.</summary>
    public override void Begin(long ticks)
    {
        _pacer.Begin(ticks);
        _paced = true;
    }

    public override Timing Once()
    {
        _exchange.Prepare();
        var due = _paced ? _pacer.WaitUntilDue() : Clock.Now;
        _exchange.Call(_channel);
        var end = Clock.Now;
        return new Timing(end, end - due, _exchange.CheckReply());
    }
}
