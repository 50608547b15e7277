using System.Diagnostics;
using System.Globalization;

namespace Ipc.Conformance.Puppets;

/// <summary>What the kernel says of the thread of one of a puppet's workers: a race with a call that blocks begins when the call is seen to
/// block, for time alone proves nothing on a busy machine.</summary>
internal sealed class WorkerThread
{
    // Of spinning: more than a call takes to begin. One that yields gets little time on a loaded machine, but many turns.
    private const long ProcessorNanoseconds = 5_000_000, Turns = 12;
    private const int LongestName = 15;
    private static readonly TimeSpan s_longest = TimeSpan.FromSeconds(20);

    private readonly string _folder;
    private readonly string _name;

    private WorkerThread(string folder, string name) => (_folder, _name) = (folder, name);

    /// <summary>What it did until then: whether it sleeps, its nanoseconds on a processor and how often it got one.</summary>
    public readonly record struct Look(bool Sleeps, long Nanoseconds, long Turns);

    /// <summary>The thread that has the worker's name.</summary>
    public static WorkerThread Of(PuppetProcess puppet, string worker)
    {
        var name = worker[..Math.Min(worker.Length, LongestName)];
        var folder = Array.Find(Directory.GetDirectories($"/proc/{puppet.ProcessId.ToString(CultureInfo.InvariantCulture)}/task"), task =>
            TryRead(task, "comm")?.Trim() == name)
            ?? throw new ConformanceException($"{puppet.Name} has no thread '{name}'");
        return new WorkerThread(folder, $"worker {worker} of {puppet.Name}");
    }

    /// <summary>Sleeps, and goes on sleeping, for its next command.</summary>
    public Task<Look> Asleep() => Until((now, before) => now.Sleeps && now == before, "is idle");

    /// <summary>Has had a turn since, and sleeps or, where it may, spins; returns at once when the call has come back.</summary>
    public Task<Look> Waits(Look idle, bool maySpin, Task unless) => Until((now, before) =>
        unless.IsCompleted
        || (now.Sleeps && now == before && now.Turns > idle.Turns)
        || (maySpin && (now.Nanoseconds - idle.Nanoseconds >= ProcessorNanoseconds || now.Turns - idle.Turns >= Turns)), "waits");

    private async Task<Look> Until(Func<Look, Look, bool> isIt, string what)
    {
        var clock = Stopwatch.StartNew();
        for (Look before = default, now; clock.Elapsed < s_longest; before = now)
        {
            now = Now();
            if (isIt(now, before))
                return now;
            await Task.Delay(1);
        }
        throw new ConformanceException($"{_name} was not seen to be one that {what} within {s_longest.TotalSeconds} s");
    }

    private Look Now()
    {
        // "123 (name) S ...", of which the name can hold anything.
        var stat = Read(_folder, "stat");
        // Nanoseconds on a processor, nanoseconds it waited for one, how often it got one.
        var fields = Read(_folder, "schedstat").Split(' ');
        return new Look(stat[(stat.LastIndexOf(')') + 2)..].StartsWith('S'), long.Parse(fields[0], CultureInfo.InvariantCulture),
            long.Parse(fields[2], CultureInfo.InvariantCulture));
    }

    private static string Read(string folder, string file) =>
        TryRead(folder, file) ?? throw new ConformanceException($"a thread or its process has ended: {folder} has no {file} any more");

    // Null if the thread has ended: threads of .NET's pool do at any time.
    private static string? TryRead(string folder, string file)
    {
        try
        {
            return File.ReadAllText(Path.Combine(folder, file));
        }
        catch (IOException)
        {
            return null;
        }
    }
}
