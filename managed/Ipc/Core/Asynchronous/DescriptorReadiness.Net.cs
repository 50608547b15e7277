using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Both halves of a channel over one descriptor, or over one for each direction.</summary>
[SupportedOSPlatform("linux")]
internal sealed class DescriptorReadiness : ChannelReadiness
{
    private readonly Half _toReceive;
    private readonly Half _toSend;

    /// <param name="receiving">Readable when there is something to receive.</param>
    /// <param name="sending">Writable when something can be sent.</param>
    public DescriptorReadiness(Descriptor receiving, Descriptor sending)
    {
        _toReceive = new Half(receiving, Libc.EPOLLIN | Libc.EPOLLRDHUP);
        // A descriptor can be in the set only once.
        _toSend = ReferenceEquals(sending, receiving) ? _toReceive.OtherDirection() : new Half(sending, Libc.EPOLLOUT);
    }

    public override Readiness ToReceive => _toReceive;
    public override Readiness ToSend => _toSend;

    public override void Dispose()
    {
        _toReceive.Leave();
        _toSend.Leave();
    }

    /// <summary>One direction. The set knows <see cref="Edge"/>, which knows the operation only while that waits.</summary>
    private sealed class Half : Readiness
    {
        private const uint Ends = Libc.EPOLLERR | Libc.EPOLLHUP;

        private readonly Descriptor _descriptor;
        private readonly Edge _edge;
        private readonly Half? _first; // of two directions over one descriptor, the one that is in the set
        private long _id;

        public Half(Descriptor descriptor, uint events)
        {
            (_descriptor, _edge) = (descriptor, new Edge { Events = events | Ends });
            _id = EpollThread.Add(descriptor, events, _edge);
        }

        private Half(Half first)
        {
            (_descriptor, _first) = (first._descriptor, first);
            _edge = new Edge { Events = Libc.EPOLLOUT | Ends };
            first._edge.Other = _edge;
        }

        ~Half() => Forget(null);

        public Half OtherDirection() => new(this);

        public override void BeginAttempt() => Interlocked.Exchange(ref _edge.Came, 0);

        public override bool Arm(ChannelOperation operation)
        {
            Interlocked.Exchange(ref _edge.Operation, operation);
            // Writability is asked for only while somebody waits for it: each message that the peer reads would tell of it. Asking tells
            // of what is there already.
            _first?.Ask(Libc.EPOLLIN | Libc.EPOLLRDHUP | Libc.EPOLLOUT);
            return Volatile.Read(ref _edge.Came) != 0;
        }

        public override void Disarm(ChannelOperation operation)
        {
            if (Interlocked.Exchange(ref _edge.Operation, null) is not null)
                _first?.Ask(Libc.EPOLLIN | Libc.EPOLLRDHUP);
        }

        private void Ask(uint events)
        {
            try
            {
                EpollThread.Change(_id, _descriptor, events);
            }
            catch (ObjectDisposedException)
            {
                // Closed meanwhile, which wakes whoever waits.
            }
        }

        public void Leave() => Forget(_descriptor);

        private void Forget(Descriptor? descriptor)
        {
            if (Interlocked.Exchange(ref _id, 0) is not 0 and var id)
                EpollThread.Remove(id, descriptor);
        }
    }

    private sealed class Edge : IReadyTarget
    {
        public int Came;
        public ChannelOperation? Operation;
        public uint Events { get; init; }
        public Edge? Other { get; set; }

        public void Ready(uint events)
        {
            if ((events & Events) != 0)
            {
                Interlocked.Exchange(ref Came, 1);
                Volatile.Read(ref Operation)?.Wake();
            }
            Other?.Ready(events);
        }
    }
}
