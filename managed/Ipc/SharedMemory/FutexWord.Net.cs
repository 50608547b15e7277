using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A word on which a <see cref="FutexThread"/> sleeps, among those of many channels.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FutexWord(uint* word) : ParkedWord(word)
{
    /// <summary>From the first wait on. Set by <see cref="FutexThread"/>, under its lock, as the next.</summary>
    public FutexThread? Thread { get; set; }
    /// <summary>The channel is closed: the memory is no longer looked at.</summary>
    public bool HasLeft { get; set; }

    protected override bool TryPrepare()
    {
        if (Thread is null && !FutexThread.TryJoin(this))
            return false;
        Thread!.TellOfChange();
        return true;
    }

    public override void Dispose() => FutexThread.Leave(this);

    /// <summary>For the thread: the word as it is, after waking the operation if somebody has cleared it.</summary>
    public Libc.FutexWaiter Look()
    {
        var value = Volatile.Read(ref *Word);
        if (value == 0)
            Waiting.Take()?.Wake();
        return new Libc.FutexWaiter(Word, value);
    }
}
