using System.Globalization;

namespace Ipc.Lab.Machine;

/// <summary>Counts the CPU time a hypervisor gave to other machines between two looks at /proc/stat.</summary>
internal sealed class StealMeter
{
    private readonly SystemFiles _files;
    private readonly (double Steal, double All)? _start;

    public StealMeter(SystemFiles files)
    {
        _files = files;
        _start = Look();
    }

    /// <summary>Percent of all CPU time since the meter was made, or null where the system does not count it.</summary>
    public double? Percent() =>
        _start is { } start && Look() is { } now && now.All > start.All
            ? Math.Round(100 * (now.Steal - start.Steal) / (now.All - start.All), 2)
            : null;

    // "cpu  user nice system idle iowait irq softirq steal guest guest_nice"; guest time is counted in user already.
    private (double Steal, double All)? Look()
    {
        var fields = _files.Read("proc/stat")?.Split('\n')[0].Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (fields is not ["cpu", ..] || fields.Length < 9)
            return null;
        var times = fields[1..9].Select(f => double.Parse(f, CultureInfo.InvariantCulture)).ToArray();
        return (times[7], times.Sum());
    }
}
