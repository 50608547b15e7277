namespace Ipc.Peer;

/// <summary>Scenario `reconnect`: a raw call over a connection of its own. Connecting, the call and closing are all timed.</summary>
internal static class Reconnect
{
    public static void Play(Cell cell, Control control)
    {
        var payloads = new RawPayloads(cell.Workload, cell.Seed);
        if (cell.Role == "server")
        {
            Server.RunReconnected(cell, control, channel => new RawCallService(channel, payloads, endsByWord: true));
            return;
        }
        Client.Run(cell, control, new ReconnectingCall(cell, control, payloads), Clock.Now);
        // A connection that is closed before the server has accepted it is none: the last one has a call, too, of nothing.
        Client.OverChannel(cell, control, channel => channel.Call([], []));
    }
}

internal sealed class ReconnectingCall : Operation
{
    private readonly Cell _cell;
    private readonly Control _control;
    private readonly RawExchange _exchange;
    private readonly Action<IpcChannel> _call;

    public ReconnectingCall(Cell cell, Control control, RawPayloads payloads)
    {
        (_cell, _control, _exchange) = (cell, control, new RawExchange(payloads));
        _call = _exchange.Call;
    }

    public override Timing Once()
    {
        _exchange.Prepare();
        var begin = Clock.Now;
        Client.OverChannel(_cell, _control, _call);
        var end = Clock.Now;
        return new Timing(end, end - begin, _exchange.CheckReply());
    }
}

/// <summary>Scenario `startup`, the client: one such call, told at once. Its server is that of `call`.</summary>
internal static class Startup
{
    public static void Play(Cell cell, Control control)
    {
        var payloads = new RawPayloads(cell.Workload, cell.Seed);
        if (cell.Role == "server")
        {
            Server.Run(cell, control, channel => new RawCallService(channel, payloads));
            return;
        }
        var first = new ReconnectingCall(cell, control, payloads).Once();
        // The runner's clock has been running since before this process was: nothing may come between the reply and this.
        control.Emit(new MeasuredEvent(1, Clock.ToNanoseconds(first.Ticks), first.Bytes, null, null), EventJson.Default.MeasuredEvent);
    }
}
