using System.Globalization;

namespace Ipc.Lab.Running;

/// <summary>Looks at the process of iceoryx's daemon from outside, for a daemon that hangs does not answer.</summary>
/// <remarks>iceoryx 2.0 guards each publisher by a mutex in shared memory that does not survive its holder. If a process is killed while it publishes, the
/// daemon's thread that cleans up after it waits for that mutex for ever, and with it everybody who asks the daemon for something, also at their end.</remarks>
internal static class RouDiProcess
{
    // It wakes every 100 ms.
    private const string Monitor = "Mon+Discover";
    private static readonly TimeSpan s_asleep = TimeSpan.FromMilliseconds(700);

    /// <summary>An error message if a daemon runs whose thread that watches processes did not wake for 0.7 s; null if none runs, or it does what it
    /// should. Takes that time where one runs.</summary>
    public static string? WhyStuck() => WhyStuck("/proc", () => Thread.Sleep(s_asleep));

    /// <summary>The same of another folder of processes and another time.</summary>
    internal static string? WhyStuck(string processes, Action wait)
    {
        var before = Wakes(processes);
        if (before.Count == 0)
            return null;
        wait();
        var after = Wakes(processes);
        var stuck = before.Where(b => after.TryGetValue(b.Key, out var wakes) && wakes == b.Value).Select(b => b.Key).ToList();
        return stuck.Count == 0 ? null
            : $"{RouDi.Program}, iceoryx's daemon, hangs, and so would all that use it: a process was killed while it sent. "
                + $"End it (kill -KILL {string.Join(' ', stuck)}) and run again";
    }

    // How often the monitoring thread of each daemon has been awake, by the daemon's process. Whatever cannot be read has ended.
    private static Dictionary<string, long> Wakes(string processes)
    {
        var wakes = new Dictionary<string, long>();
        foreach (var process in Directory.EnumerateDirectories(processes).Where(p => char.IsAsciiDigit(Path.GetFileName(p)[0])))
        {
            try
            {
                if (File.ReadAllText(Path.Combine(process, "comm")).Trim() != RouDi.Program)
                    continue;
                foreach (var thread in Directory.EnumerateDirectories(Path.Combine(process, "task")))
                {
                    if (File.ReadAllText(Path.Combine(thread, "comm")).Trim() == Monitor)
                        wakes[Path.GetFileName(process)] = Switches(Path.Combine(thread, "status"));
                }
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                continue;
            }
        }
        return wakes;
    }

    private static long Switches(string status) => File.ReadLines(status)
        .Where(line => line.Contains("ctxt_switches:", StringComparison.Ordinal))
        .Sum(line => long.Parse(line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..], CultureInfo.InvariantCulture));
}
