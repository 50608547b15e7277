namespace Ipc.Peer;

/// <summary>What a server repeats.</summary>
internal abstract class Service(IpcChannel channel)
{
    protected IpcChannel Channel { get; } = channel;

    /// <summary>Whether nothing of the next exchange has arrived: the only moment at which a client closes in order.</summary>
    public bool IsWaiting { get; protected set; }

    /// <summary>Receives, answers, and then checks what came.</summary>
    public abstract void Once();
}

/// <summary>The course of a server: listen, serve one client to its end, then answer questions until standard input ends.</summary>
internal static class Server
{
    public static void Run(Cell cell, Control control, Func<IpcChannel, Service> prepare)
    {
        try
        {
            var channel = Accept(cell, control);
            var allocated = Serve(channel, control, prepare);
            control.EndLeavingOut(RuntimeFacts.AllocatedBytesOfThread - allocated);
        }
        // The end of standard input closes the channel under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        control.WaitForEnd();
    }

    private static IpcChannel Accept(Cell cell, Control control)
    {
        var listener = Sides.Listen(cell);
        try
        {
            control.OnEnd(listener.Close);
            control.Emit(new ReadyEvent(listener.Address), EventJson.Default.ReadyEvent);
            return listener.Accept();
        }
        finally
        {
            control.OnEnd(null);
            listener.Dispose();
        }
    }

    private static long Serve(IpcChannel channel, Control control, Func<IpcChannel, Service> prepare)
    {
        try
        {
            control.OnEnd(channel.Close);
            return Serve(prepare(channel), control);
        }
        finally
        {
            control.OnEnd(null);
            channel.Dispose();
        }
    }

    /// <summary>What this thread had allocated when the last exchange was over.</summary>
    private static long Serve(Service service, Control control)
    {
        var operations = 0L;
        var allocated = 0L;
        try
        {
            while (true)
            {
                // Costs some nanoseconds after a reply, and tells in the end what ending itself allocated.
                allocated = RuntimeFacts.AllocatedBytesOfThread;
                service.Once();
                operations++;
            }
        }
        catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && service.IsWaiting)
        {
            control.BeginLeavingOut();
        }
        control.Emit(new ServedEvent(operations), EventJson.Default.ServedEvent);
        return allocated;
    }
}
