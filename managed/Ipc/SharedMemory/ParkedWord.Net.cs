namespace Ipc;

/// <summary>One direction: a word on which a thread of the channel would sleep. To the peer a parked operation looks like a parked thread.</summary>
/// <param name="word">Whoever clears it finds the operation.</param>
internal abstract unsafe class ParkedWord(uint* word) : Readiness, IDisposable
{
    private readonly WaitingOperation _parked = new();

    protected uint* Word => word;

    /// <summary>Who is to be woken, known only while it waits: what tells of the peer keeps this alive, and with it no channel that nobody waits on.</summary>
    protected WaitingOperation Parked => _parked;

    // Always to be looked at once more: by the memory itself, which tells all.
    public sealed override bool Arm(ChannelOperation operation)
    {
        var channel = (FramedChannel)operation.Channel;
        if (!channel.TryEnterBeside())
            return true;
        // The operation is named before the word says that it sleeps: whoever clears the word finds it.
        _parked.Set(operation);
        if (TryPrepare())
        {
            Interlocked.Exchange(ref *word, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
        }
        channel.LeaveBeside();
        return true;
    }

    public sealed override void Disarm(ChannelOperation operation)
    {
        var channel = (FramedChannel)operation.Channel;
        if (_parked.Take() is null || !channel.TryEnterBeside())
            return;
        Volatile.Write(ref *word, 0);
        channel.LeaveBeside();
    }

    /// <summary>Before each parking, by who keeps the channel's memory from being unmapped: sees to it that whoever clears the word is noticed. False: the
    /// channel is closed.</summary>
    protected abstract bool TryPrepare();

    /// <summary>The channel is closed: the word is not looked at any more once this returns. Once.</summary>
    public abstract void Dispose();
}
