namespace Ipc.Peer;

/// <summary>What a server repeats.</summary>
internal abstract unsafe class Service(IpcChannel channel)
{
    private byte* _given;
    private int _givenLength;

    /// <summary>The client's connection, or its next one.</summary>
    public IpcChannel Channel { get; set; } = channel;

    /// <summary>Whether nothing of the next exchange has arrived: the only moment at which a client closes in order.</summary>
    public bool IsWaiting { get; protected set; }

    /// <summary>What can be done before the request comes.</summary>
    public virtual void Prepare()
    {
    }

    /// <summary>Receives, answers, and then checks what came.</summary>
    public abstract void Once();

    /// <summary>The same for a request that C++ has received on the channel.</summary>
    public void Once(byte* request, int length)
    {
        _given = request;
        _givenLength = length;
        Once();
    }

    /// <summary>Fails the call with the words that end this process.</summary>
    protected Failure Refuse(Failure failure)
    {
        Channel.FailRequest(failure.Message);
        return failure;
    }

    /// <summary>The request of this exchange.</summary>
    protected ReadOnlySpan<byte> ReceiveRequest()
    {
        var given = _given;
        if (given != null)
        {
            _given = null;
            return new ReadOnlySpan<byte>(given, _givenLength);
        }
        IsWaiting = true;
        var request = Channel.ReceiveRequest();
        IsWaiting = false;
        return request;
    }
}

/// <summary>The course of a server: listen, serve one client to its end, then answer questions until standard input ends.</summary>
internal static class Server
{
    public static void Run(Cell cell, Control control, Func<IpcChannel, Service> prepare) =>
        Run(cell, control, channel => Serve(prepare(channel), control, _ => true));

    /// <summary>The same for calls that a handler answers.</summary>
    public static void RunHandler(Cell cell, Control control, RawHandler handler) =>
        Run(cell, control, channel =>
        {
            channel.Serve(handler.Answer);
            control.BeginLeavingOut();
            return (handler.Answered(), handler.Allocated);
        });

    private static void Run(Cell cell, Control control, Func<IpcChannel, (long Operations, long Allocated)> serve)
    {
        try
        {
            var (operations, allocated) = ServeOn(AcceptOne(cell, control), control, serve);
            Tell(control, operations, allocated);
        }
        // The end of standard input closes the channel under whatever is going on: that is the failure, not what it caused.
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        control.WaitForEnd();
    }

    /// <summary>The same for a client that connects again and again: exchanges are counted through all its connections, and one without any exchange is
    /// its last.</summary>
    public static void RunReconnected(Cell cell, Control control, Func<IpcChannel, Service> prepare)
    {
        try
        {
            var listener = Listen(cell, control);
            try
            {
                Service? service = null;
                Service Continue(IpcChannel channel)
                {
                    service ??= prepare(channel);
                    service.Channel = channel;
                    return service;
                }

                long served, all = 0, allocated;
                do
                {
                    (served, allocated) = ServeOn(Accept(listener, control), control,
                        channel => Serve(Continue(channel), control, exchanges => exchanges == 0));
                    all += served;
                }
                while (served > 0);
                Tell(control, all, allocated);
            }
            finally
            {
                listener.Dispose();
            }
        }
        catch (IpcException) when (control.HasEnded)
        {
            control.ThrowIfEnded();
        }
        control.WaitForEnd();
    }

    private static IpcListener Listen(Cell cell, Control control)
    {
        var listener = Sides.Listen(cell);
        control.Emit(new ReadyEvent(listener.Address), EventJson.Default.ReadyEvent);
        return listener;
    }

    private static IpcChannel AcceptOne(Cell cell, Control control)
    {
        using var listener = Listen(cell, control);
        return Accept(listener, control);
    }

    private static IpcChannel Accept(IpcListener listener, Control control)
    {
        try
        {
            control.OnEnd(listener.Close);
            return listener.Accept();
        }
        finally
        {
            control.OnEnd(null);
        }
    }

    private static (long Operations, long Allocated) ServeOn(
        IpcChannel channel, Control control, Func<IpcChannel, (long Operations, long Allocated)> serve)
    {
        try
        {
            control.OnEnd(channel.Close);
            return serve(channel);
        }
        finally
        {
            control.OnEnd(null);
            channel.Dispose();
        }
    }

    private static (long Operations, long Allocated) Serve(Service service, Control control, Func<long, bool> isLast)
    {
        if (HostProcess.IsHere)
            return HostProcess.Serve(service, control, isLast);
        var operations = 0L;
        var allocated = 0L;
        try
        {
            while (true)
            {
                // Costs some nanoseconds after a reply, and tells in the end what ending itself allocated.
                allocated = RuntimeFacts.AllocatedBytesOfThread;
                service.Prepare();
                service.Once();
                operations++;
            }
        }
        catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && service.IsWaiting)
        {
            if (isLast(operations))
                control.BeginLeavingOut();
        }
        return (operations, allocated);
    }

    // Allocated: what this thread had when the last exchange was over.
    private static void Tell(Control control, long operations, long allocated)
    {
        control.Emit(new ServedEvent(operations), EventJson.Default.ServedEvent);
        control.EndLeavingOut(RuntimeFacts.AllocatedBytesOfThread - allocated);
    }
}
