using System.Globalization;
using System.Runtime.InteropServices;

namespace Ipc.Tests;

/// <summary>What the kernel says of one thread of this process, for tests of what happens to a thread that waits.</summary>
internal sealed partial class ThreadLook
{
    // Of spinning: more than starting takes. One that yields gets little time on a loaded machine, but many turns.
    private const long ProcessorNanoseconds = 5_000_000, Turns = 12;

    private volatile int _id;
    private (long Nanoseconds, long Turns) _atStart;
    private string _lastSleep = "";

    [LibraryImport("libc", EntryPoint = "gettid")]
    private static partial int ThisThread();

    /// <summary>By the thread that will be looked at, before its work.</summary>
    public void IsMine()
    {
        var id = ThisThread();
        _atStart = TimeOf(id);
        _id = id;
    }

    /// <summary>Whether it sleeps in one and the same system call since the last look, or has used processor time like a thread that spins.</summary>
    public bool Waits()
    {
        if (_id == 0)
            return false;
        try
        {
            // "running", or the call's number, its arguments, stack and program counter.
            var call = File.ReadAllText($"/proc/self/task/{_id}/syscall");
            var same = !call.StartsWith("running", StringComparison.Ordinal) && call == _lastSleep;
            _lastSleep = call;
            var (nanoseconds, turns) = TimeOf(_id);
            return same || nanoseconds - _atStart.Nanoseconds >= ProcessorNanoseconds || turns - _atStart.Turns >= Turns;
        }
        catch (IOException)
        {
            return false; // the thread has ended
        }
    }

    private static (long Nanoseconds, long Turns) TimeOf(int id)
    {
        // Nanoseconds on a processor, nanoseconds it waited for one, how often it got one.
        var fields = File.ReadAllText($"/proc/self/task/{id}/schedstat").Split(' ');
        return (long.Parse(fields[0], CultureInfo.InvariantCulture), long.Parse(fields[2], CultureInfo.InvariantCulture));
    }
}
