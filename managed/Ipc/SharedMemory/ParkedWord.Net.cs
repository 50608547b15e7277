namespace Ipc;

/// <summary>One direction: a word on which a thread of the channel would sleep. To the peer a parked operation looks like a parked thread.</summary>
/// <param name="word">Whoever clears it finds the operation.</param>
internal abstract unsafe class ParkedWord(uint* word) : NamedReadiness, IDisposable
{
    protected uint* Word => word;

    // Always to be looked at once more: by the memory itself, which tells all.
    protected sealed override bool Watch(ChannelOperation operation)
    {
        if (TryPrepare())
        {
            Interlocked.Exchange(ref *word, 1);
            Interlocked.MemoryBarrier(); // of its own: on arm64 an exchange need not keep later loads behind its store
        }
        return true;
    }

    public sealed override void Disarm(ChannelOperation operation)
    {
        var channel = (FramedChannel)operation.Channel;
        if (Waiting.Take() is null || !channel.TryEnterBeside())
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
