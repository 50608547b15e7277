using System.Text;

namespace Ipc.Tests;

public sealed class IpcServerTests
{
    public static TheoryData<string> Transports => ["unix", "tcp", "pipe", "fifo", "shm", "shm-event"];

    private static IpcServer Server(string transport, RequestHandler handler, IpcServerOptions? options = null) =>
        new(Pair.NewAddress(transport), handler, options);

    private static IpcChannel Connect(IpcServer server) => ManagedIpc.Connect(server.Address, Pair.Patience);

    private static void Echo(ReadOnlySpan<byte> request, ReplyWriter reply) => request.CopyTo(reply.Reserve(request.Length));

    private static string Call(IpcChannel client, string request)
    {
        var reply = new byte[100];
        return Encoding.UTF8.GetString(reply, 0, client.Call(Encoding.UTF8.GetBytes(request), reply, Pair.Patience));
    }

    /// <summary>Stops a server, whose handler passes the gate, before the handler is let go.</summary>
    private static void CutOffWithinCall(IpcServer server, IpcChannel client, Gate gate)
    {
        var calling = Aside.Run(() => Pair.StatusOf(() => Call(client, "slow")));
        Assert.True(gate.WaitUntilEntered());
        Assert.False(server.Stop(10));
        Assert.Equal(IpcStatus.PeerClosed, calling.Join());
        gate.Open();
    }

    [Theory, MemberData(nameof(Transports))]
    public void ClientsAreServedSideBySide(string transport)
    {
        using var gate = new Gate();
        using var server = Server(transport, (request, reply) =>
        {
            if (request.SequenceEqual("slow"u8))
                gate.Pass();
            Echo(request, reply);
        });
        using var slow = Connect(server);
        using var fast = Connect(server);
        var waiting = Aside.Run(() => Call(slow, "slow"));
        Assert.True(gate.WaitUntilEntered());
        Assert.Equal("fast", Call(fast, "fast"));
        Assert.Equal(2, server.Clients);
        gate.Open();
        Assert.Equal("slow", waiting.Join());
    }

    [Theory, MemberData(nameof(Transports))]
    public void WhatAHandlerThrowsIsToldAtBothEnds(string transport)
    {
        var told = new List<IpcServerError>();
        var options = new IpcServerOptions
        {
            Error = error =>
            {
                lock (told)
                    told.Add(error);
                throw new InvalidOperationException("from the callback, which harms nobody");
            }
        };
        using var server = Server(transport, (request, reply) =>
        {
            if (request.SequenceEqual("half"u8))
                reply.Reserve(5).Clear();
            if (!request.SequenceEqual("good"u8))
                throw new KeyNotFoundException("no such price");
            Echo(request, reply);
        }, options);
        using var client = Connect(server);
        foreach (var request in new[] { "text", "half", "text" })
        {
            var failure = Assert.Throws<IpcException>(() => Call(client, request));
            Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
            Assert.Contains("no such price", failure.Message, StringComparison.Ordinal);
        }
        Assert.Equal("good", Call(client, "good"));
        lock (told)
        {
            Assert.Equal(3, told.Count);
            Assert.All(told, error => Assert.Equal(IpcServerErrorSource.Handler, error.Source));
            Assert.All(told, error => Assert.IsType<KeyNotFoundException>(error.Exception));
        }
    }

    [Theory, MemberData(nameof(Transports))]
    public void ClientsThatHaveLeftAreForgottenAtOnce(string transport)
    {
        using var server = Server(transport, Echo);
        for (var i = 0; i < 5; i++)
        {
            using var client = Connect(server);
            Assert.Equal("here", Call(client, "here"));
        }
        Pair.Until(() => server.Clients == 0);
    }

    [Theory, MemberData(nameof(Transports))]
    public void OneClientTooManyTakesThePlaceOfTheOldestThatNeverCalled(string transport)
    {
        var drops = 0;
        using var server = Server(transport, Echo, new IpcServerOptions { MaxClients = 2, Error = _ => Interlocked.Increment(ref drops) });
        var first = Connect(server);
        Assert.Equal("first", Call(first, "first"));
        using var silent = Connect(server);
        Pair.Until(() => server.Clients == 2);
        using var third = Connect(server);
        Assert.Equal("third", Call(third, "third"));
        Assert.Equal("again", Call(first, "again"));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => Call(silent, "late")));
        Pair.Until(() => Volatile.Read(ref drops) == 1);
        // Now that all have called, the next one waits until one leaves.
        var waiting = Aside.Run(() =>
        {
            using var fourth = Connect(server);
            return Call(fourth, "fourth");
        });
        Assert.Equal("still", Call(third, "still"));
        Assert.False(waiting.IsCompleted);
        first.Dispose();
        Assert.Equal("fourth", waiting.Join());
    }

    // In a flood of silent clients a good one was dropped that had connected a few milliseconds before and was not running. On a machine that keeps this
    // program from running for longer than that, some rounds may still end so.
    [Theory, MemberData(nameof(Transports))]
    public void AClientThatHasJustConnectedIsNotDroppedForAnother(string transport)
    {
        using var server = Server(transport, Echo, new IpcServerOptions { MaxClients = 1 });
        Assert.Contains(true, Enumerable.Range(0, 20).Select(_ => IsServedLate()));

        bool IsServedLate()
        {
            using var late = Connect(server);
            Pair.Until(() => server.Clients == 1);
            var another = Aside.Run(() =>
            {
                using var next = Connect(server);
                return Call(next, "next");
            });
            Thread.Sleep(10);
            var served = false;
            try
            {
                served = Call(late, "late") == "late";
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
            {
            }
            late.Dispose();
            Assert.Equal("next", another.Join());
            Pair.Until(() => server.Clients == 0);
            return served;
        }
    }

    [Theory, MemberData(nameof(Transports))]
    public void StopAnswersWhatIsInProgress(string transport)
    {
        using var gate = new Gate();
        using var server = Server(transport, (request, reply) =>
        {
            gate.Pass();
            Echo(request, reply);
        });
        using var busy = Connect(server);
        using var idle = Connect(server);
        Pair.Until(() => server.Clients == 2);
        var calling = Aside.Run(() => Call(busy, "answered"));
        Assert.True(gate.WaitUntilEntered());
        var stopping = Aside.Run(() => server.Stop(Pair.Patience));
        // Nothing keeps the idle one.
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => idle.Receive(new byte[1], Pair.Patience)));
        gate.Open();
        Assert.True(stopping.Join());
        Assert.Equal("answered", calling.Join());
        Assert.Equal(0, server.Clients);
    }

    [Theory, MemberData(nameof(Transports))]
    public void StopCutsOffWhatOutlastsItsTimeOut(string transport)
    {
        using var gate = new Gate();
        using var server = Server(transport, (_, _) => gate.Pass());
        using var client = Connect(server);
        CutOffWithinCall(server, client, gate);
    }

    // Its handler, which learns of that when it reserves its reply, has done nothing wrong.
    [Theory, MemberData(nameof(Transports))]
    public void AClientThatWasCutOffIsNoFailureOfItsHandler(string transport)
    {
        var told = new List<IpcServerError>();
        using var gate = new Gate();
        using var server = Server(transport, (request, reply) =>
        {
            gate.Pass();
            Echo(request, reply);
        }, new IpcServerOptions { Error = told.Add });
        using var client = Connect(server);
        CutOffWithinCall(server, client, gate);
        Pair.Until(() => server.Clients == 0);
        Assert.Empty(told);
        Assert.Equal(0, server.GetHealth().CallsFailed);
    }

    // What a handler fails with at another server is its own failure, though it looks the same.
    [Fact]
    public void AFailureFromElsewhereIsTheHandlersOwn()
    {
        var told = new List<IpcServerError>();
        using var server = Server("unix", (_, _) => throw new IpcException(IpcStatus.PeerClosed, "the server behind is gone"),
            new IpcServerOptions { Error = told.Add });
        using var client = Connect(server);
        Assert.Equal(IpcStatus.HandlerFailed, Pair.StatusOf(() => Call(client, "text")));
        Assert.Equal(IpcServerErrorSource.Handler, Assert.Single(told).Source);
    }

    // A request that came while its server stopped: the client may make the call elsewhere, which it could not after a failure of the handler.
    [Theory, MemberData(nameof(Transports))]
    public void WhatIsTooLateToBeBegunIsNotToldAsAFailure(string transport)
    {
        using var pair = new Pair(transport);
        var calling = Aside.Run(() => Pair.StatusOf(() => Call(pair.Client, "late")));
        var tooLate = new IpcException(IpcStatus.Closed, "the server has stopped");
        var answerOne = pair.Server.AnswerOneBy((_, reply) => throw reply.EndChannelWith(tooLate));
        Assert.Same(tooLate, Assert.Throws<IpcException>(answerOne));
        pair.Server.Dispose();
        Assert.Equal(IpcStatus.PeerClosed, calling.Join());
    }

    [Theory, MemberData(nameof(Transports))]
    public void AHandlerMayStopItsServer(string transport)
    {
        IpcServer? self = null;
        using var server = Server(transport, (request, reply) =>
        {
            Assert.True(self!.Stop(Pair.Patience));
            Echo(request, reply);
        });
        self = server;
        using var client = Connect(server);
        Assert.Equal("last", Call(client, "last"));
        Assert.Equal(IpcStatus.PeerClosed, Pair.StatusOf(() => Call(client, "after")));
    }

    [Theory, MemberData(nameof(Transports))]
    public void HandlersThatStopTheServerAtOnceDoNotWaitForEachOther(string transport)
    {
        foreach (var disposing in new[] { false, true })
        {
            IpcServer? self = null;
            using var both = new Barrier(2);
            var started = Environment.TickCount64;
            using var server = Server(transport, (request, reply) =>
            {
                Assert.True(both.SignalAndWait(Pair.Patience));
                if (disposing)
                    self!.Dispose();
                else
                    Assert.True(self!.Stop(Pair.Patience));
                Echo(request, reply);
            });
            self = server;
            using var first = Connect(server);
            using var second = Connect(server);
            // Dispose gives requests no time, so the one that comes first may cut the other off.
            string CallOrBeCutOff(IpcChannel client, string request)
            {
                try
                {
                    return Call(client, request);
                }
                catch (IpcException e) when (disposing && e.Status == IpcStatus.PeerClosed)
                {
                    return request;
                }
            }
            var calling = Aside.Run(() => CallOrBeCutOff(first, "first"));
            Assert.Equal("second", CallOrBeCutOff(second, "second"));
            Assert.Equal("first", calling.Join());
            Assert.InRange(Environment.TickCount64 - started, 0, 5000);
        }
    }

    [Fact]
    public void MaxClientsIsANumberFromOne()
    {
        using var listener = ManagedIpc.Listen(Pair.NewAddress("unix"));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => _ = new IpcServer(listener, Echo, new IpcServerOptions { MaxClients = 0 })));
    }

    [Theory, MemberData(nameof(Transports))]
    public void WhatIsRefusedTakesNoName(string transport)
    {
        var address = Pair.NewAddress(transport);
        Assert.Throws<ArgumentNullException>(() => new IpcServer(address, null!));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => _ = new IpcServer(address, Echo, new IpcServerOptions { MaxClients = 0 })));
        using var server = new IpcServer(address, Echo);
        using var client = Connect(server);
        Assert.Equal("there", Call(client, "there"));
    }
}
