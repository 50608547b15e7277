using System.Runtime.InteropServices;
using System.Text;

namespace Ipc.Tests;

/// <summary>Channels made of calls, over a transport that is only a function call. Twin of native/tests/calls.</summary>
public class CallChannelTests
{
    private static readonly IpcAddress s_address = IpcAddress.Parse("msrpc-alpc://direct?max=1M");

    /// <summary>Exchanges on a thread of their own, which a late one is left to, as a real transport's.</summary>
    private sealed unsafe class DirectClient(CallSession session) : CallClient
    {
        private sealed class Call : IReplySink
        {
            public CallReply Reply;
            public IpcStatus Status;
            public void Put(FrameKind kind, uint id, ReadOnlySpan<byte> reply)
            {
                var copy = (byte*)NativeMemory.Alloc((nuint)Math.Max(1, reply.Length));
                reply.CopyTo(new Span<byte>(copy, reply.Length));
                Reply = new CallReply { Kind = kind, Id = id, Bytes = copy, Length = (uint)reply.Length };
            }
        }

        private byte* _kept;

        public override CallReply Exchange(FrameKind kind, uint id, ReadOnlySpan<byte> payload, Deadline deadline)
        {
            var call = new Call();
            var length = payload.Length;
            var request = (nint)NativeMemory.Alloc((nuint)Math.Max(1, length));
            payload.CopyTo(new Span<byte>((void*)request, length));
            var thread = new Thread(() =>
            {
                call.Status = session.Answer(kind, id, (byte*)request, (uint)length, call);
                NativeMemory.Free((void*)request);
            });
            thread.Start();
            if (!thread.Join(deadline.LeftMilliseconds))
                throw new IpcException(IpcStatus.TimedOut, "the server did not answer in time");
            if (call.Status != IpcStatus.Ok)
                throw new IpcException(IpcStatus.PeerClosed, $"the server has ended ({call.Status})");
            if (kind == FrameKind.Request)
                _kept = call.Reply.Bytes;
            return call.Reply;
        }

        public override void DropReply()
        {
            NativeMemory.Free(_kept);
            _kept = null;
        }

        public override void Close() => session.ClientGone();
        public override void Dispose() => DropReply();
    }

    private sealed class Ends : IDisposable
    {
        public Ends()
        {
            Session = new CallSession(s_address);
            Server = new CallServerChannel(Session);
            Client = new CallClientChannel(new DirectClient(Session), s_address);
        }
        public CallSession Session { get; }
        public IpcChannel Server { get; }
        public IpcChannel Client { get; }
        public void Dispose()
        {
            Server.Close(); // lets every thread out
            Client.Dispose();
            Server.Dispose();
        }
    }

    private static string Ask(IpcChannel client, string request, int timeoutMilliseconds = 5000)
    {
        var reply = new byte[1 << 20];
        return Encoding.UTF8.GetString(reply, 0, client.Call(Encoding.UTF8.GetBytes(request), reply, timeoutMilliseconds));
    }

    private static IpcStatus Refused(Action action) => Assert.Throws<IpcException>(action).Status;

    private static void Reverse(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        if (request.SequenceEqual("fail"u8))
            throw new InvalidOperationException("as asked");
        var room = reply.Reserve(request.Length);
        request.CopyTo(room);
        room.Reverse();
    }

    [Fact]
    public async Task AnswersOnTheTransportsThreadsWhileServing()
    {
        using var ends = new Ends();
        var serving = Task.Run(() => ends.Server.Serve(Reverse));
        for (var i = 0; i < 200; i++)
            Assert.Equal("cba", Ask(ends.Client, "abc"));
        Assert.Equal("", Ask(ends.Client, ""));
        var failure = Assert.Throws<IpcException>(() => Ask(ends.Client, "fail"));
        Assert.Equal(IpcStatus.HandlerFailed, failure.Status);
        Assert.Contains("as asked", failure.Message, StringComparison.Ordinal);
        Assert.Equal("no doog", Ask(ends.Client, "good on"));
        ends.Client.Close();
        await serving.WaitAsync(TimeSpan.FromSeconds(5));
    }

    [Fact]
    public async Task AnswersAStepAtATime()
    {
        using var ends = new Ends();
        var calling = Task.Run(() => Ask(ends.Client, "abc"));
        Assert.Equal("abc", Encoding.UTF8.GetString(ends.Server.ReceiveRequest(5000)));
        "wxyz"u8.CopyTo(ends.Server.ReserveReply(4));
        ends.Server.CommitReply(3);
        Assert.Equal("wxy", await calling);
        Assert.Equal(IpcStatus.TimedOut, Refused(() => ends.Server.ReceiveRequest(0)));
        Assert.Equal(IpcStatus.TimedOut, Refused(() => ends.Server.ReceiveRequest(20)));
    }

    [Fact]
    public async Task AMessageIsConfirmedWhenItIsReceived()
    {
        using var ends = new Ends();
        var sending = Task.Run(() => ends.Client.Send("hello"u8, 5000));
        Assert.Equal("hello", Encoding.UTF8.GetString(ends.Server.Peek(5000)));
        await Task.Delay(30);
        Assert.False(sending.IsCompleted);
        ends.Server.Release();
        await sending;
    }

    [Fact]
    public void OnlyTheClientSpeaksOfItsOwnAccord()
    {
        using var ends = new Ends();
        Assert.Equal(IpcStatus.WrongState, Refused(() => ends.Server.Send("x"u8)));
        Assert.Equal(IpcStatus.WrongState, Refused(() => ends.Server.Reserve(1)));
        Assert.Equal(IpcStatus.WrongState, Refused(() => ends.Server.Call("x"u8, new byte[1])));
        Assert.Equal(IpcStatus.WrongState, Refused(() => ends.Client.Receive(new byte[1])));
        Assert.Equal(IpcStatus.WrongState, Refused(() => ends.Client.ReceiveRequest()));
    }

    [Fact]
    public async Task ALateReplyIsDropped()
    {
        using var ends = new Ends();
        Assert.Equal(IpcStatus.TimedOut, Refused(() => Ask(ends.Client, "first", 30)));
        var second = Task.Run(() => Ask(ends.Client, "second"));
        foreach (var wanted in new[] { "first", "second" })
        {
            Assert.Equal(wanted, Encoding.UTF8.GetString(ends.Server.ReceiveRequest(5000)));
            ends.Server.Reply(Encoding.UTF8.GetBytes(wanted));
        }
        Assert.Equal("second", await second);
    }

    [Fact]
    public async Task ClosingTheServerEndsWhatWaitsAndWhatIsUnanswered()
    {
        using var ends = new Ends();
        var received = Task.Run(() => Ask(ends.Client, "abc"));
        ends.Server.ReceiveRequest(5000);
        ends.Server.Close();
        Assert.Equal(IpcStatus.PeerClosed, (await Assert.ThrowsAsync<IpcException>(() => received)).Status);
        Assert.Equal(IpcStatus.PeerClosed, Refused(() => Ask(ends.Client, "again")));
        Assert.Equal(IpcStatus.Closed, Refused(() => ends.Server.Reply("late"u8)));
    }

    [Fact]
    public async Task AHandlerThatRunsWhileTheServerClosesStillAnswers()
    {
        using var ends = new Ends();
        using var inside = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        var serving = Task.Run(() => ends.Server.Serve((request, reply) =>
        {
            inside.Set();
            goOn.Wait();
            "drained"u8.CopyTo(reply.Reserve(7));
        }));
        var calling = Task.Run(() => Ask(ends.Client, "abc"));
        Assert.True(inside.Wait(5000));
        ends.Server.Close();
        goOn.Set();
        Assert.Equal("drained", await calling);
        Assert.Equal(IpcStatus.Closed, (await Assert.ThrowsAsync<IpcException>(() => serving)).Status);
    }

    [Fact]
    public unsafe void WhatNoClientOfOursSendsEndsTheChannel()
    {
        using var large = new Ends();
        Assert.Equal(IpcStatus.PeerTooLarge, large.Session.Answer(FrameKind.Request, 1, null, (1 << 20) + 1, null!));
        Assert.Equal(IpcStatus.PeerTooLarge, Refused(() => large.Server.ReceiveRequest()));
        using var wrong = new Ends();
        Assert.Equal(IpcStatus.NotOurProtocol, wrong.Session.Answer((FrameKind)77, 1, null, 0, null!));
        Assert.Equal(IpcStatus.NotOurProtocol, Refused(() => wrong.Server.ReceiveRequest()));
    }
}
