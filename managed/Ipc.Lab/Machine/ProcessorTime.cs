using System.Globalization;

namespace Ipc.Lab.Machine;

/// <summary>What a process has had of the processors, by the kernel's account of each of its threads (/proc/PID/task/*/schedstat), in nanoseconds: read
/// from outside it costs the process nothing, and it is exact where /proc/PID/stat counts hundredths of a second.</summary>
internal static class ProcessorTime
{
    /// <summary>Null where the kernel does not tell, or the process is gone. Threads that ended have taken theirs along.</summary>
    public static long? Of(int process)
    {
        try
        {
            return Directory.EnumerateDirectories($"/proc/{process}/task").Sum(thread => Parse(File.ReadAllText($"{thread}/schedstat")));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException)
        {
            return null;
        }
    }

    /// <summary>Of one thread's line: time on a processor, time in its queue, how often.</summary>
    public static long Parse(string line) => long.Parse(line.AsSpan()[..line.IndexOf(' ', StringComparison.Ordinal)], CultureInfo.InvariantCulture);
}
