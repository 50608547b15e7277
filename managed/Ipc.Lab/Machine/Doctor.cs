using System.Globalization;
using Ipc.Lab.Reporting;

namespace Ipc.Lab.Machine;

/// <summary>One thing looked at. Status: ok, warning (figures suffer) or impossible (nothing can be measured).</summary>
/// <param name="Mend">What to do; "" when all is well.</param>
internal sealed record Check(string Id, string Status, string Finding, string Mend)
{
    /// <summary>What it costs here, as measured just now; null where nothing was measured of it.</summary>
    public string? Cost { get; init; }

    public static Check Ok(string id, string finding) => new(id, "ok", finding, "");
    public static Check Warn(string id, string finding, string mend) => new(id, "warning", finding, mend);
    public static Check Impossible(string id, string finding, string mend) => new(id, "impossible", finding, mend);
}

/// <summary>Judges a machine: what on it will spoil a measurement, and how to mend it.</summary>
internal static class Doctor
{
    private const double MuchLoad = 0.3;
    private const double MuchSteal = 0.5;
    private const double SlowWakeUpNs = 10_000;
    private const double LateTimerNs = 1_000_000;
    private const long LittleLockable = 8L << 20;

    /// <param name="costs">What was measured; null: nothing was.</param>
    public static IReadOnlyList<Check> Examine(MachineRecord machine, CpuTopology topology, IReadOnlyList<string> staleNames, MachineCosts? costs = null) =>
    [
        Costing(Cpus(machine), costs, Taken),
        Sharing(topology) with { Cost = costs?.LineNs is null ? null : Line(costs) },
        Moves(costs),
        Idle(machine),
        WakeUp(costs),
        Costing(Governor(machine), costs, Uneven),
        Costing(Turbo(machine), costs, Uneven),
        Costing(Virtualisation(machine), costs?.WakeUpNs is null ? null : costs, c => $"{Asleep(c)}; {Line(c)}"),
        Costing(Steal(machine), costs, Taken),
        Load(machine) with { Cost = costs is null ? null : Taken(costs) },
        Clock(machine) with { Cost = costs is null
            ? null
            : $"a reading takes {Units.Time(costs.ClockReadNs)} and is in every sample; it steps by {Units.Time(costs.ClockStepNs)}" },
        Timer(costs),
        HugePages(machine), Swap(machine), Lockable(machine),
        Costing(Quota(machine), costs, Taken),
        Stale(staleNames),
    ];

    // What is well has no cost to be told.
    private static Check Costing(Check check, MachineCosts? costs, Func<MachineCosts, string> cost) =>
        check.Status == "ok" || costs is null ? check : check with { Cost = cost(costs) };

    private static string Taken(MachineCosts costs) =>
        $"in a second of computing, others took {Units.Time(costs.TakenPerSecondNs)}, at most {Units.Time(costs.LongestTakenNs)} at a time; an "
            + "operation interrupted then waits that long";

    private static string Uneven(MachineCosts costs) =>
        string.Create(CultureInfo.InvariantCulture, $"the same computation took {costs.UnevenPercent:0} % longer in its slowest tenth than in its fastest");

    private static string Line(MachineCosts costs) =>
        $"a cache line's round trip takes {Units.Time(costs.LineNs)} ({Units.Time(costs.LeastLineNs)} to {Units.Time(costs.MostLineNs)}); a call "
            + "through shared memory takes at least one";

    private static string Asleep(MachineCosts costs) =>
        $"a sleeping process resumes {Units.Time(costs.WakeUpNs)} after the signal, and a call in which both ends sleep pays that twice";

    private static Check Moves(MachineCosts? costs) => costs?.MovesPerSecond switch
    {
        null => Check.Ok("moves", "not measured"),
        > 0 => Check.Warn("moves", string.Create(CultureInfo.InvariantCulture,
            $"the host moved the processors about {costs.MovesPerSecond:0.0} times a second: nearer to each other or further apart"),
            "on the host: pin the virtual processors; here, nothing can be done, but the lab labels launches by placement and never mixes them") with
        { Cost = Line(costs) },
        _ => Check.Ok("moves", $"none seen in {costs.Looks} observations") with { Cost = Line(costs) },
    };

    private static Check Idle(MachineRecord machine) => machine.Cpu.WakesWithinUs switch
    {
        null => Check.Ok("idle", "no other program is known to keep idle processors awake"),
        var us => Check.Warn("idle",
            $"another program keeps idle processors awake (they must wake within {us} µs): what sleeps is woken sooner than without it",
            "end it, unless your product runs beside it; as root: fuser -v /dev/cpu_dma_latency names it"),
    };

    private static Check WakeUp(MachineCosts? costs) => costs?.WakeUpNs switch
    {
        null => Check.Ok("wake-up", "not measured"),
        > SlowWakeUpNs => Check.Warn("wake-up",
            $"waking a sleeping process takes {Units.Time(costs.WakeUpNs)}: next to that, all transports that block look alike",
            "bare metal wakes in 2 to 5 µs; where a processor can be spared, shm with wait=spin or adaptive avoids it; on Linux, as root, this keeps idle "
                + "processors awake until the shell ends: exec 9> /dev/cpu_dma_latency; printf '\\0\\0\\0\\0' >&9 "
                + "(`ipc run --awake` measures what that brings)") with
        { Cost = Asleep(costs) },
        _ => Check.Ok("wake-up", $"{Units.Time(costs.WakeUpNs)}") with { Cost = Asleep(costs) },
    };

    private static Check Timer(MachineCosts? costs) => costs?.TimerLateNs switch
    {
        null => Check.Ok("timer", "not measured"),
        > LateTimerNs => Check.Warn("timer", $"a sleep of 1 ms takes {Units.Time(1e6 + costs.TimerLateNs)}",
            "time-outs are late by as much; paced figures count from the scheduled time and are not spoiled")
            with
        { Cost = $"time-outs and paced senders are {Units.Time(costs.TimerLateNs)} late" },
        _ => Check.Ok("timer", $"a sleep of 1 ms is {Units.Time(costs.TimerLateNs)} late"),
    };

    private static Check Cpus(MachineRecord machine) => machine.Cpu.AllowedCpus switch
    {
        1 => Check.Warn("cpus", "this process may use one CPU: server and client take turns on it, and one that spins holds up the other",
            "measure on two CPUs or more (taskset, the container's CPU set); spinning transports cannot be judged here"),
        2 => Check.Warn("cpus", "two CPUs: server and client take both, and everything else on the machine disturbs them",
            "end other programs while you measure"),
        var n => Check.Ok("cpus", $"{n} CPUs usable, {machine.Cpu.AllowedCores} cores"),
    };

    private static Check Sharing(CpuTopology topology)
    {
        if (topology.Allowed.Count < 2)
            return Check.Ok("sharing", "there is only one CPU");
        var pins = Planning.Pins.Choose(null, topology);
        var (first, second) = (pins.Server!.Value, pins.Client!.Value);
        if (topology.ShareACore(first, second))
            return Check.Warn("sharing", $"CPUs {first} and {second} are threads of one core: while one spins, the other gets less of it",
                "measure on two cores: choose them with --pin, or allow more CPUs");
        var l3 = CpuTopology.ParseList(topology.Cpus.FirstOrDefault(c => c.Cpu == first)?.SharesL3With);
        return l3.Count > 0 && !l3.Contains(second)
            ? Check.Warn("sharing", $"CPUs {first} and {second} share no last-level cache: every message crosses between caches",
                "choose two CPUs of one cache with --pin, unless that is what you want to know")
            : Check.Ok("sharing", $"CPUs {first} and {second} are different cores{(l3.Count > 0 ? " behind one last-level cache" : "")}");
    }

    private static Check Governor(MachineRecord machine) => machine.Cpu.Governor switch
    {
        null => Check.Ok("governor", "the system states no frequency governor (usual in virtual machines)"),
        "performance" => Check.Ok("governor", "performance"),
        var governor => Check.Warn("governor", $"the frequency governor is '{governor}': the clock follows the load, and idle waits start slow",
            "as root: echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
    };

    private static Check Turbo(MachineRecord machine) => machine.Cpu.Turbo switch
    {
        true => Check.Warn("turbo", "turbo is on: the clock depends on temperature and on what the other cores do",
            "as root: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > /sys/devices/system/cpu/cpufreq/boost"),
        false => Check.Ok("turbo", "off"),
        null => Check.Ok("turbo", "the system does not say"),
    };

    private static Check Virtualisation(MachineRecord machine) => machine.Virtualisation == "none"
        ? Check.Ok("virtualisation", "none seen")
        : Check.Warn("virtualisation",
            $"a virtual machine (hypervisor: {machine.Virtualisation}): waking a sleeping process leaves the machine, which costs microseconds",
            "compare figures only with others of this machine; measure on bare metal for absolute ones");

    private static Check Steal(MachineRecord machine) => machine.StealPercent switch
    {
        null => Check.Ok("steal", "the system does not count it"),
        > MuchSteal => Check.Warn("steal", $"the hypervisor gave {machine.StealPercent} % of the CPU time to others",
            "measure at a quieter hour or on a machine of your own"),
        var percent => Check.Ok("steal", $"{percent} % over some seconds"),
    };

    private static Check Load(MachineRecord machine) => machine.LoadAverage switch
    {
        null => Check.Ok("load", "the system does not say"),
        > MuchLoad => Check.Warn("load", $"load average {machine.LoadAverage.Value.ToString(CultureInfo.InvariantCulture)}: other programs are running",
            "end them, or wait a minute after a build"),
        var load => Check.Ok("load", $"load average {load.Value.ToString(CultureInfo.InvariantCulture)}"),
    };

    private static Check Clock(MachineRecord machine) => machine.Cpu.Clocksource switch
    {
        null or "tsc" or "kvm-clock" or "hyperv_clocksource_tsc_page" or "arch_sys_counter" =>
            Check.Ok("clock", machine.Cpu.Clocksource ?? "the system does not say"),
        var source => Check.Warn("clock", $"the clock source is '{source}': every reading is a system call and shows in small times",
            "as root, if tsc is among available_clocksource: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"),
    };

    private static Check HugePages(MachineRecord machine) =>
        Check.Ok("huge-pages", $"transparent: {machine.TransparentHugePages ?? "none"}; reserved: {machine.HugePages ?? 0}");

    private static Check Swap(MachineRecord machine) => machine.SwapUsedBytes is > 0
        ? Check.Warn("swap", $"{machine.SwapUsedBytes / (1 << 20)} MiB are swapped out: a page that comes back costs milliseconds",
            "end what uses the memory, then as root: swapoff -a && swapon -a")
        : Check.Ok("swap", machine.SwapBytes is > 0 ? "present, unused" : "none");

    private static Check Lockable(MachineRecord machine) => machine.LockableMemoryBytes is < LittleLockable
        ? Check.Warn("locked-memory", $"only {machine.LockableMemoryBytes / 1024} KiB may be locked in memory (RLIMIT_MEMLOCK)",
            "ulimit -l unlimited, or raise memlock in /etc/security/limits.conf")
        : Check.Ok("locked-memory", machine.LockableMemoryBytes is { } bytes ? $"up to {bytes / 1024} KiB" : "no limit");

    private static Check Quota(MachineRecord machine) => machine.CpuQuota is { } quota && quota < Math.Max(2, machine.Cpu.AllowedCpus)
        ? Check.Warn("cpu-quota", $"the control group may use {quota.ToString("0.##", CultureInfo.InvariantCulture)} CPUs' worth of time: "
            + "when it is used up, every process stands still for milliseconds",
            "lift the container's CPU limit (docker run without --cpus, cpu.max = max)")
        : Check.Ok("cpu-quota", "none that matters");

    private static Check Stale(IReadOnlyList<string> names) => names.Count == 0
        ? Check.Ok("stale-names", "no leftover sockets or FIFOs")
        : Check.Warn("stale-names",
            $"{names.Count} names left behind by processes that have ended: {string.Join(", ", names.Take(3))}{(names.Count > 3 ? " ..." : "")}",
            "delete them; they do no harm, but show that something was killed");
}
