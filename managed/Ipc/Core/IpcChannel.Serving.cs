namespace Ipc;

/// <summary>Answers one request. It is read in place; the reply is written through <paramref name="reply"/>.</summary>
/// <remarks>An exception fails the call at the client, with <see cref="IpcStatus.HandlerFailed"/> and the exception's message.</remarks>
/// <param name="request">The request, valid until the handler returns.</param>
/// <param name="reply">Takes the reply.</param>
public delegate void RequestHandler(ReadOnlySpan<byte> request, ReplyWriter reply);

/// <summary>Takes a handler's reply. A handler that reserves nothing sends an empty reply.</summary>
public abstract class ReplyWriter
{
    /// <summary>Reserves the reply, which is sent when the handler returns. Reserve once, and fill the room completely.</summary>
    /// <param name="length">The length of the reply in bytes.</param>
    /// <returns>Exactly <paramref name="length"/> bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.MessageTooLarge"/>, or why the channel ended.</exception>
    public abstract Span<byte> Reserve(int length);

    /// <summary>Whether what came out of the handler says that its client's channel has ended, which is no failure of the handler's.</summary>
    internal virtual bool IsEndOfChannel(Exception exception) => false;

    /// <summary>Whether a reservation that was refused for this was refused because the channel has ended.</summary>
    private protected static bool IsEndOfChannel(IpcStatus refused) => refused is IpcStatus.PeerClosed or IpcStatus.Closed or IpcStatus.Truncated;

    /// <summary>The same exception, which is one of these from here on; to be thrown.</summary>
    internal virtual Exception EndChannelWith(Exception exception) => exception;
}

// Serving calls with a handler.
public abstract partial class IpcChannel
{
    /// <summary>Answers calls, one after another on this thread, until the client closes; then returns.</summary>
    /// <remarks>Over a transport of kind "call" the handler runs on the transport's threads, one request at a time, while this method waits.</remarks>
    /// <param name="handler">Answers one request. What it throws fails the call at the client and ends nothing here, but for what
    /// <see cref="ReplyWriter.Reserve"/> throws because the channel has ended. It may close and dispose this channel.</param>
    /// <param name="handlerFailed">Receives what the handler threw, on the handler's thread, after the client has been told: for a log. If it throws,
    /// that ends this method.</param>
    /// <exception cref="IpcException">The channel failed, or was closed on this side (<see cref="IpcStatus.Closed"/>).</exception>
    public void Serve(RequestHandler handler, Action<Exception>? handlerFailed = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        var serving = new Serving(this, handler, handlerFailed);
        BeginServing();
        try
        {
            if (ServesElsewhere)
                ServeElsewhere(serving.One);
            while (true)
                serving.One();
        }
        catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && !serving.ListenerFailed)
        {
            // The client has all it wanted.
        }
        finally
        {
            EndServing();
        }
    }

    /// <summary>Whether requests are answered on the threads of the transport that deliver them.</summary>
    private protected virtual bool ServesElsewhere => false;

    /// <summary>Blocks while <paramref name="answerOne"/> is run for each request on whatever thread that came, never twice at once; throws
    /// what ends the channel.</summary>
    private protected virtual void ServeElsewhere(Action answerOne) => throw new NotSupportedException();

    /// <summary>Waits for one request and answers it, each time it is run. Whoever closes the channel disposes it only when that has
    /// returned.</summary>
    internal Action AnswerOneBy(RequestHandler handler) => new Serving(this, handler, null).One;

    /// <summary>From here to <see cref="EndServing"/> nothing that a handler may be looking at is given back.</summary>
    private protected virtual void BeginServing() { }

    /// <summary>Serve is over, on the thread that called it; after a Dispose by the handler the resources go now.</summary>
    private protected virtual void EndServing() { }

    /// <summary>Whether this thread is the one that runs the handler of <see cref="Serve"/>: it cannot wait for itself to leave.</summary>
    private protected bool RunsHandlerHere => _handlerThread == Environment.CurrentManagedThreadId;

    private int _handlerThread;

    private sealed class Serving(IpcChannel channel, RequestHandler handler, Action<Exception>? handlerFailed)
    {
        private readonly ChannelReplyWriter _writer = new(channel);

        /// <summary>What ends Serve was thrown by the one who is told of failures, whatever it looks like.</summary>
        public bool ListenerFailed { get; private set; }

        public void One()
        {
            var request = channel.ReceiveRequest();
            _writer.Begin();
            channel._handlerThread = Environment.CurrentManagedThreadId;
            try
            {
                handler(request, _writer);
            }
            // Whatever else the handler throws belongs to the client that called it, not to this loop; should the channel itself
            // have failed under the handler, telling the client fails the same way.
            catch (Exception e) when (!_writer.IsEndOfChannel(e))
            {
                try
                {
                    _writer.GiveBack();
                    channel.FailRequest(e.Message);
                }
                finally
                {
                    Tell(e);
                }
                return;
            }
            finally
            {
                channel._handlerThread = 0;
            }
            _writer.End();
        }

        private void Tell(Exception e)
        {
            if (handlerFailed is null)
                return;
            ListenerFailed = true;
            handlerFailed(e);
            ListenerFailed = false;
        }
    }

    private sealed class ChannelReplyWriter(IpcChannel channel) : ReplyWriter
    {
        private const int Nothing = -1, Refused = -2;

        private int _reserved; // bytes, or one of these
        private Exception? _end;

        public void Begin() => _reserved = Nothing;

        public override Span<byte> Reserve(int length)
        {
            _reserved = Refused; // unless what follows returns
            var room = channel.ReserveReply(length);
            _reserved = length;
            return room;
        }

        internal override bool IsEndOfChannel(Exception exception) =>
            exception == _end || (_reserved == Refused && exception is IpcException refused && IsEndOfChannel(refused.Status));

        internal override Exception EndChannelWith(Exception exception) => _end = exception;

        /// <summary>The handler failed after it had reserved room.</summary>
        public void GiveBack()
        {
            if (_reserved < 0)
                return;
            _reserved = Nothing;
            channel.Cancel();
        }

        public void End()
        {
            if (_reserved < 0)
                channel.Reply([]);
            else
                channel.CommitReply(_reserved);
        }
    }
}
