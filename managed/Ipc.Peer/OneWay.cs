using System.Runtime.ExceptionServices;

namespace Ipc.Peer;

/// <summary>Scenarios `oneway`, `oneway-batch` and `fanin`: clients send as fast as they can, the server receives, checks every message and
/// measures. Copying calls throughout: at small sizes one call that copies is cheaper than two that lend.</summary>
internal static class OneWay
{
    private const int HandoverMilliseconds = 10_000;

    private static readonly byte[] s_confirmation = [Push.Confirmation];

    public static void Play(Cell cell, Control control)
    {
        var pattern = MessagePattern.Of(cell);
        try
        {
            if (cell.Role == "client")
                PlayClient(cell, control, pattern);
            else
                PlayServer(cell, control, pattern);
        }
        // The end of standard input closes everything under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        if (cell.Role == "server")
            control.WaitForEnd();
    }

    private static bool IsBatch(Cell cell) => cell.Scenario == "oneway-batch";

    private static void PlayClient(Cell cell, Control control, MessagePattern pattern)
    {
        if (cell.TransportKind == "queue")
            SendOverQueue(cell, control, pattern);
        else if (IsBatch(cell))
            SendOverChannels(cell, control, pattern, channel => new BatchSink(channel, pattern.Length, cell.MessagesOfBatch));
        else
            SendOverChannels(cell, control, pattern, channel => new ChannelSink(channel, pattern.Length));
    }

    // The number that a thread's messages carry: each thread is a client of its own.
    private static int ClientOf(Cell cell, int thread) => (cell.Client * cell.SendingThreads) + thread;

    private static void SendOverChannels<TSink>(Cell cell, Control control, MessagePattern pattern, Func<IpcChannel, TSink> sink)
        where TSink : struct, ISink
    {
        var begin = Clock.Now;
        var channels = new List<IpcChannel>();
        void Close() => channels.ForEach(c => c.Close());
        try
        {
            for (var thread = 0; thread < cell.SendingThreads; thread++)
                channels.Add(Sides.Connect(cell, HandoverMilliseconds));
            using var interruption = Interruption.By(control, Close);
            var senders = new Senders(control, cell.SendingThreads);
            senders.Run(thread =>
            {
                var channel = channels[thread];
                var answer = new byte[1];
                Stretches.Send(cell, control, senders, ClientOf(cell, thread), sink(channel), pattern, begin, () =>
                {
                    if (channel.Receive(answer) != 1 || answer[0] != Push.Confirmation)
                    {
                        throw Failure.WrongContent(
                            "a stretch was confirmed by something else than the byte 0x06: check that the server plays the same scenario");
                    }
                });
            }, Close);
        }
        finally
        {
            channels.ForEach(c => c.Dispose());
        }
    }

    // Threads share the one handle, which any number of them may use.
    private static void SendOverQueue(Cell cell, Control control, MessagePattern pattern)
    {
        var begin = Clock.Now;
        using var queue = Sides.OpenQueue(cell, HandoverMilliseconds);
        using var interruption = Interruption.By(control, queue.Close);
        var senders = new Senders(control, cell.SendingThreads);
        // A queue has no way back: the runner compares what both ends counted.
        senders.Run(
            thread => Stretches.Send(cell, control, senders, ClientOf(cell, thread), new QueueSink(queue, pattern.Length), pattern, begin, static () => { }),
            queue.Close);
    }

    private static void PlayServer(Cell cell, Control control, MessagePattern pattern)
    {
        var operations = cell.TransportKind == "queue" ? ServeQueue(cell, control, pattern)
            : IsBatch(cell) ? ServeChannels(cell, control, pattern, channel => new BatchSource(channel, pattern.Length, cell.MessagesOfBatch))
            : ServeChannels(cell, control, pattern, channel => new ChannelSource(channel, pattern.Length));
        control.Emit(new ServedEvent(operations), EventJson.Default.ServedEvent);
    }

    private static long ServeQueue(Cell cell, Control control, MessagePattern pattern)
    {
        using var queue = Sides.OpenQueue(cell, HandoverMilliseconds);
        using var interruption = Interruption.By(control, queue.Close);
        control.Emit(new ReadyEvent(cell.Address!), EventJson.Default.ReadyEvent);
        var source = new QueueSource(queue, pattern.Length);
        Arriving arrivals = GivesNewestFirst(cell) ? new UnorderedArrivals(cell, pattern) : new Arrivals(cell, pattern);
        var operations = Stretches.Receive(
            cell, control, cell.Clients, threads: 1,
            portions => arrivals.ReceiveStretch(ref source, portions, cell.Clients, cell.MessagesOfSample), static () => 0, static () => { });
        RemoveQueue(cell);
        return operations;
    }

    private static bool GivesNewestFirst(Cell cell) => cell.Address!.Split('?') is [_, var options] && options.Split('&').Contains("order=lifo");

    // A queue may outlive its users; this one was made for the launch.
    private static void RemoveQueue(Cell cell)
    {
        try
        {
            Sides.RemoveQueue(cell);
        }
        catch (IpcException e) when (e.Status == IpcStatus.NoServer)
        {
            // One that ends with its last user is gone, or has no name to remove.
        }
    }

    private static long ServeChannels<TSource>(Cell cell, Control control, MessagePattern pattern, Func<IpcChannel, TSource> source)
        where TSource : struct, ISource
    {
        var channels = new List<IpcChannel>();
        try
        {
            Accept(cell, control, channels);
            using var interruption = Interruption.By(control, () => channels.ForEach(c => c.Close()));
            var lanes = channels.ConvertAll(channel => new Lane<TSource>(source(channel), new Arrivals(cell, pattern)));
            return Stretches.Receive(
                cell, control, cell.Clients, lanes.Count, portions => ReceiveTogether(lanes, channels, portions, cell),
                static () => 0, () => channels.ForEach(c => c.Send(s_confirmation)));
        }
        finally
        {
            channels.ForEach(c => c.Dispose());
        }
    }

    private static void Accept(Cell cell, Control control, List<IpcChannel> channels)
    {
        using var listener = Sides.Listen(cell);
        using var interruption = Interruption.By(control, listener.Close);
        control.Emit(new ReadyEvent(listener.Address), EventJson.Default.ReadyEvent);
        while (channels.Count < cell.Clients)
            channels.Add(listener.Accept());
    }

    /// <summary>One thread for each channel; the first failure ends all and is thrown here.</summary>
    private static void ReceiveTogether<TSource>(List<Lane<TSource>> lanes, List<IpcChannel> channels, Portions portions, Cell cell)
        where TSource : struct, ISource
    {
        if (lanes is [var only])
        {
            only.ReceiveStretch(portions, cell.MessagesOfSample);
            return;
        }
        Exception? first = null;
        var threads = lanes.ConvertAll(lane => new Thread(() =>
        {
            try
            {
                lane.ReceiveStretch(portions, cell.MessagesOfSample);
            }
            // Whatever it is ends the cell: it is thrown again by the thread that waits for all.
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref first, e, null);
                channels.ForEach(c => c.Close());
            }
        }));
        threads.ForEach(t => t.Start());
        threads.ForEach(t => t.Join());
        if (first is not null)
            ExceptionDispatchInfo.Throw(first);
    }

    private sealed class Lane<TSource>(TSource source, Arrivals arrivals) where TSource : struct, ISource
    {
        private TSource _source = source;

        public void ReceiveStretch(Portions portions, int portion) => arrivals.ReceiveStretch(ref _source, portions, senders: 1, portion);
    }
}

/// <summary>What the end of standard input does while this lives.</summary>
internal sealed class Interruption : IDisposable
{
    private readonly Control _control;

    private Interruption(Control control) => _control = control;

    public static Interruption By(Control control, Action close)
    {
        control.OnEnd(close);
        return new Interruption(control);
    }

    public void Dispose() => _control.OnEnd(null);
}
