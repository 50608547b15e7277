namespace Ipc.Peer;

/// <summary>Scenario `broadcast`: the server publishes as fast as it can; every client receives, checks every message and measures.</summary>
internal static class BroadcastScenario
{
    private const int HandoverMilliseconds = 10_000;

    public static void Play(Cell cell, Control control)
    {
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
        Stretches.Send(cell, control, new Senders(control, 1), 0, new PublishSink(publisher, pattern.Length), pattern, Clock.Now, static () => { });
        control.WaitForEnd();
    }

    private static void Subscribe(Cell cell, Control control, MessagePattern pattern)
    {
        using var subscriber = Sides.Subscribe(cell, HandoverMilliseconds);
        using var interruption = Interruption.By(control, subscriber.Close);
        var source = new SubscriberSource(subscriber, pattern.Length);
        var arrivals = new Arrivals(cell, pattern);
        Stretches.Receive(
            cell, control, senders: 1, threads: 1,
            portions => arrivals.ReceiveStretch(ref source, portions, senders: 1, cell.MessagesOfSample), () => arrivals.Lost, static () => { });
    }
}
