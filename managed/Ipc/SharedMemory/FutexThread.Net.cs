using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A thread that sleeps on the words of many channels at once (futex_waitv), as many as the system allows; more channels have more such threads.
/// It is a background thread and ends some seconds after its last channel is gone.</summary>
/// <remarks>
/// Parking again costs no system call: the thread sleeps on every word of its channels, whatever it holds. It queues itself on each in turn, expecting the
/// value it saw, and last on <see cref="_changes"/>, which everybody counts up before parking. So a word that was parked on and cleared again between the
/// thread's look and its sleep, and holds the value expected, is not missed: the count is another. The system compares in the order given.
/// </remarks>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FutexThread
{
    private const int Most = 127; // the system's 128 and our own word
    private const long IdleNanoseconds = 10_000_000_000;

    private static readonly Lock s_lock = new(); // guards the list, and who belongs to which thread
    private static readonly List<FutexThread> s_threads = [];
    private static readonly Lazy<bool> s_available = new(Try);

    private readonly List<FutexWord> _words = [];
    private readonly uint* _changes = (uint*)NativeMemory.AlignedAlloc(64, 64);

    private FutexThread() => *_changes = 0;

    ~FutexThread() => NativeMemory.AlignedFree(_changes);

    /// <summary>Whether the system can do it: Linux from 5.16 on.</summary>
    public static bool IsAvailable => s_available.Value;

    private static bool Try()
    {
        uint word = 0;
        // A value that the word does not have: refused at once where there is such a call.
        return Libc.SleepOnMany([new Libc.FutexWaiter(&word, 1)], 0) < 0 && Libc.LastError == Libc.EAGAIN;
    }

    /// <summary>Gives the word to a thread that has room for one more; false: its channel is closed.</summary>
    public static bool TryJoin(FutexWord word)
    {
        lock (s_lock)
        {
            if (word.HasLeft)
                return false;
            var thread = s_threads.Find(one => one._words.Count < Most);
            if (thread is null)
            {
                thread = new FutexThread();
                LibraryThread.Start(new Thread(thread.Wait) { IsBackground = true, Name = "ipc shared memory" }, "that waits for channels");
                s_threads.Add(thread);
            }
            thread._words.Add(word);
            thread.TellOfChange();
            // It does not sleep on the new word yet.
            Libc.WakeAll(thread._changes);
            word.Thread = thread;
            return true;
        }
    }

    /// <summary>The word is not looked at any more once this returns.</summary>
    public static void Leave(FutexWord word)
    {
        lock (s_lock)
        {
            word.HasLeft = true;
            word.Thread?._words.Remove(word);
        }
    }

    /// <summary>Before parking.</summary>
    public void TellOfChange() => Interlocked.Increment(ref *_changes);

    private void Wait()
    {
        Span<Libc.FutexWaiter> waiters = stackalloc Libc.FutexWaiter[Most + 1];
        while (true)
        {
            var changes = Volatile.Read(ref *_changes);
            var count = Look(waiters);
            waiters[count] = new Libc.FutexWaiter(_changes, changes);
            var end = (long)Stopwatch.GetElapsedTime(0).TotalNanoseconds + IdleNanoseconds;
            // Any other failure: something has changed meanwhile, a word was unmapped, or a signal came.
            if (Libc.SleepOnMany(waiters[..(count + 1)], end) < 0 && Libc.LastError == Libc.ETIMEDOUT && HasEnded())
                return;
        }
    }

    private int Look(Span<Libc.FutexWaiter> waiters)
    {
        lock (s_lock)
        {
            for (var i = 0; i < _words.Count; i++)
                waiters[i] = _words[i].Look();
            return _words.Count;
        }
    }

    private bool HasEnded()
    {
        lock (s_lock)
            return _words.Count == 0 && s_threads.Remove(this);
    }
}
