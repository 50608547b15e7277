using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Both halves of a channel through shared memory: the words on which a thread of it would sleep, and the socket that ends with the peer. To the peer
/// a parked operation looks like a parked thread.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class SharedMemoryReadiness : ChannelReadiness
{
    private readonly ParkedWord _toReceive;
    private readonly ParkedWord _toSend;
    private readonly Descriptor _socket;
    private readonly long _watch;

    /// <param name="receiving">The word that the peer clears when it has sent something.</param>
    /// <param name="sending">The word that the peer clears when it has made room.</param>
    /// <param name="socket">Hangs up when the peer dies.</param>
    /// <param name="peerMayHaveDied">Is told of that.</param>
    public SharedMemoryReadiness(uint* receiving, uint* sending, Descriptor socket, IEpollTarget peerMayHaveDied)
    {
        _socket = socket;
        _watch = EpollThread.Add(socket, Libc.EPOLLRDHUP, peerMayHaveDied);
        _toReceive = new ParkedWord(receiving);
        _toSend = new ParkedWord(sending);
    }

    public override Readiness ToReceive => _toReceive;
    public override Readiness ToSend => _toSend;

    public override void Dispose()
    {
        EpollThread.Remove(_watch, _socket);
        _toReceive.Leave();
        _toSend.Leave();
    }

    /// <summary>One word.</summary>
    internal sealed class ParkedWord(uint* word) : Readiness
    {
        private ChannelOperation? _operation;

        /// <summary>From the first wait on. Set by <see cref="FutexThread"/>, under its lock, as the next.</summary>
        public FutexThread? Thread { get; set; }
        /// <summary>The channel is closed: the memory is no longer looked at.</summary>
        public bool HasLeft { get; set; }

        // Always to be looked at once more: by the memory itself, which tells all.
        public override bool Arm(ChannelOperation operation)
        {
            var channel = (FramedChannel)operation.Channel;
            if (!channel.TryEnterBeside())
                return true;
            // The operation is named before the word says that it sleeps: whoever clears the word finds it.
            Interlocked.Exchange(ref _operation, operation);
            if (Thread is not null || FutexThread.TryJoin(this))
            {
                Thread!.TellOfChange();
                Interlocked.Exchange(ref *word, 1);
                Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
            }
            channel.LeaveBeside();
            return true;
        }

        public override void Disarm(ChannelOperation operation)
        {
            var channel = (FramedChannel)operation.Channel;
            if (Interlocked.Exchange(ref _operation, null) is null || !channel.TryEnterBeside())
                return;
            Volatile.Write(ref *word, 0);
            channel.LeaveBeside();
        }

        public void Leave() => FutexThread.Leave(this);

        /// <summary>For the thread: the word as it is, after waking the operation if somebody has cleared it.</summary>
        public Libc.FutexWaiter Look()
        {
            var value = Volatile.Read(ref *word);
            if (value == 0)
                Interlocked.Exchange(ref _operation, null)?.Wake();
            return new Libc.FutexWaiter(word, value);
        }
    }
}
