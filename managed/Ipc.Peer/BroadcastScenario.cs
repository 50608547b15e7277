namespace Ipc.Peer;

/// <summary>Scenario `broadcast`: the server publishes as fast as it can; every client receives, checks every message and measures. `broadcast-last`:
/// the server publishes at a rate and writes into each message when; every client tells how long each was on its way. `broadcast-slow`: one client pauses
/// again and again.</summary>
internal static class BroadcastScenario
{
    private const int HandoverMilliseconds = 10_000;

    public static void Play(Cell cell, Control control)
    {
        if (cell.IsStamped)
            CheckStamped(cell.Workload);
        var pattern = MessagePattern.Of(cell);
        try
        {
            if (cell.Role == "client")
                Subscribe(cell, control, pattern);
            else
                Publish(cell, control, pattern);
        }
        // The end of standard input closes the broadcast under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
    }

    private static void CheckStamped(WorkloadEntry workload)
    {
        const int Shortest = 16;
        if (!(workload.Rate > 0))
            throw Failure.BadCell($"workload '{workload.Id}' has no rate: scenario broadcast-last needs messages per second");
        if (workload.RequestBytes < Shortest)
        {
            throw Failure.BadCell(
                $"workload '{workload.Id}' has messages of {workload.RequestBytes} bytes, too short for a sequence and a time: choose one of "
                    + $"{Shortest} bytes or more");
        }
    }

    private static void Publish(Cell cell, Control control, MessagePattern pattern)
    {
        using var publisher = Sides.Publish(cell);
        using var interruption = Interruption.By(control, publisher.Close);
        control.Emit(new ReadyEvent(cell.Address!), EventJson.Default.ReadyEvent);
        // What is published before a subscriber has joined never reaches it.
        while (publisher.Subscribers < cell.Clients)
        {
            control.ThrowIfEnded();
            Thread.Sleep(1);
        }
        var senders = new Senders(control, 1);
        if (cell.IsStamped)
        {
            var sink = new StampedSink(publisher, new Pacer(cell.Workload.Rate), pattern.Length);
            Stretches.Send(cell, control, senders, 0, sink, pattern, Clock.Now, static () => { });
        }
        else
        {
            Stretches.Send(cell, control, senders, 0, new PublishSink(publisher, pattern.Length), pattern, Clock.Now, static () => { });
        }
        control.WaitForEnd();
    }

    private static void Subscribe(Cell cell, Control control, MessagePattern pattern)
    {
        using var subscriber = Sides.Subscribe(cell, HandoverMilliseconds);
        using var interruption = Interruption.By(control, subscriber.Close);
        var arrivals = new Arrivals(cell, pattern);
        if (cell.IsStamped)
        {
            var source = new StampedSource(subscriber, pattern);
            Receive(cell, control, arrivals, portions =>
            {
                source.Tell(portions);
                arrivals.ReceiveStretch(ref source, portions, senders: 1, portion: 1);
            });
        }
        else if (cell.Pause > TimeSpan.Zero)
        {
            var source = new SlowSource(subscriber, pattern.Length, cell.Pause);
            Receive(cell, control, arrivals, portions => arrivals.ReceiveStretch(ref source, portions, senders: 1, cell.MessagesOfSample));
        }
        else
        {
            var source = new SubscriberSource(subscriber, pattern.Length);
            Receive(cell, control, arrivals, portions => arrivals.ReceiveStretch(ref source, portions, senders: 1, cell.MessagesOfSample));
        }
    }

    private static void Receive(Cell cell, Control control, Arrivals arrivals, Action<Portions> receive) =>
        Stretches.Receive(cell, control, senders: 1, threads: 1, receive, () => arrivals.Lost, static () => { });
}
