namespace Ipc.Peer;

/// <summary>What a server repeats.</summary>
internal abstract class Service(Channel channel)
{
    protected Channel Channel { get; } = channel;

    /// <summary>Whether nothing of the next exchange has arrived: the only moment at which a client closes in order.</summary>
    public bool IsWaiting { get; protected set; }

    /// <summary>Receives, answers, and then checks what came.</summary>
    public abstract void Once();
}

/// <summary>The course of a server: listen, serve one client to its end, then answer questions until standard input ends.</summary>
internal static class Server
{
    public static void Run(Cell cell, Control control, Func<Channel, Service> prepare)
    {
        var operations = 0L;
        try
        {
            using var channel = Accept(cell, control);
            control.OnEnd(channel.Close);
            operations = Serve(prepare(channel));
        }
        // The end of standard input closes the channel under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        finally
        {
            control.OnEnd(null);
        }
        control.Emit(new ServedEvent(operations), EventJson.Default.ServedEvent);
        control.WaitForEnd();
    }

    private static Channel Accept(Cell cell, Control control)
    {
        using var listener = Sides.Listen(cell);
        control.OnEnd(listener.Close);
        control.Emit(new ReadyEvent(listener.Address), EventJson.Default.ReadyEvent);
        return listener.Accept();
    }

    private static long Serve(Service service)
    {
        for (var operations = 0L; ; operations++)
        {
            try
            {
                service.Once();
            }
            catch (IpcException e) when (e.Status == Status.PeerClosed && service.IsWaiting)
            {
                return operations;
            }
        }
    }
}
