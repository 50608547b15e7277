using System.Runtime.CompilerServices;

namespace Ipc;

/// <summary>Waiting for messages and for room, and the error messages of what goes wrong.</summary>
internal sealed unsafe partial class NamedQueue
{
    private readonly struct MessageCondition(NamedQueue queue) : IWaitCondition
    {
        public bool IsMet() => queue.MayHaveMessage();
    }

    private readonly struct RoomCondition(NamedQueue queue, uint footprint) : IWaitCondition
    {
        public bool IsMet() => queue.MayHaveRoom(footprint);
    }

    // Without a lock, and therefore a guess that is checked under it.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MayHaveMessage()
    {
        // Head first: if the tail loaded after it is the same, the queue was empty at that moment.
        var head = Volatile.Read(ref *_head);
        return Volatile.Read(ref *_tailSeen) != head || Volatile.Read(ref *_tail) != head;
    }

    private bool MayHaveRoom(uint footprint)
    {
        var tail = Volatile.Read(ref *_tail);
        var used = tail - Volatile.Read(ref *_head);
        return used > _size || Fits(used, tail, footprint, out _); // nonsense is for the lock's holder to judge
    }

    // A cancellation counts as the end of the time; whoever cancels wakes everybody here.
    private WaitResult Wait<T>(T condition, uint* parked, Deadline deadline, CancellationToken cancellation) where T : struct, IWaitCondition
    {
        if (condition.IsMet())
            return WaitResult.Ready;
        // Who only polls does not spin.
        return deadline.Expired
            ? WaitResult.TimedOut
            : SharedMemoryWait.Until(new Waiting<T>(this, condition, parked, cancellation), _policy, null, deadline);
    }

    // A holder of the lock that is stopped must not keep a cancellation from being noticed.
    private bool TakeLock(OwnerLock ownerLock, Deadline deadline, CancellationToken cancellation)
    {
        if (!cancellation.CanBeCanceled)
            return IsReady(ownerLock.Take(deadline, in _closed));
        while (!IsReady(ownerLock.Take(new Deadline(0), in _closed)))
        {
            if (cancellation.IsCancellationRequested || deadline.Expired)
                return false;
        }
        return true;
    }

    private readonly struct Waiting<T>(NamedQueue queue, T condition, uint* parked, CancellationToken cancellation) : IWaiting where T : struct, IWaitCondition
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public bool IsMet() => condition.IsMet();

        public WaitResult? ReasonToStop(bool look)
        {
            if (Volatile.Read(ref queue._closed))
                return WaitResult.ClosedHere;
            return cancellation.IsCancellationRequested ? WaitResult.TimedOut : null;
        }

        public bool LookIsDue() => false; // there is nobody to look at

        public bool Sleep(int milliseconds)
        {
            var announced = Parking.Announce(parked);
            // If we do not sleep after all: the word says that we do, and the next waker finds nobody and clears it.
            return !condition.IsMet() && ReasonToStop(false) is null && !SharedWord.SleepOn(parked, announced, milliseconds);
        }
    }

    private bool IsReady(WaitResult result) => result switch
    {
        WaitResult.Ready => true,
        WaitResult.TimedOut => false,
        _ => throw ClosedHere(),
    };

    private static Deadline DeadlineOf(int timeoutMilliseconds) => timeoutMilliseconds >= Timeout.Infinite
        ? new Deadline(timeoutMilliseconds)
        : throw Deadline.NotATimeout(timeoutMilliseconds);

    private IpcException ClosedHere()
    {
        // A waker may have meant this thread, which does not come any more.
        if (!_gate.HasEnded && MayHaveMessage())
            Parking.WakeOne(_readersParked);
        return new IpcException(IpcStatus.Closed, $"the queue {_address} was closed here: open it again to go on");
    }

    private IpcException TooLarge(int length) => new(IpcStatus.MessageTooLarge,
        $"a message of {length} bytes is over the limit of {MaxMessageLength} of the queue {_address}: raise max=, or make the queue larger (size=, "
            + "of which one message may take half)");

    private static IpcException BufferTooSmall(int length, int room) => new(IpcStatus.BufferTooSmall,
        $"the message has {length} bytes and the buffer {room}: it stays for whoever comes next");

    private IpcException Damaged() =>
        new(IpcStatus.NotOurProtocol, $"the memory of the queue {_address} is damaged: remove it with RemoveQueue and open it again");
}
