using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>The machine as read from a made-up system.</summary>
public sealed class MachineTests : IDisposable
{
    private readonly TemporaryFolder _root = new();

    public void Dispose() => _root.Dispose();

    private SystemFiles Files => new(_root.Path);

    /// <summary>Four CPUs: 0 and 1 are threads of core 0, 2 and 3 of core 1; CPU 1 is not for us.</summary>
    private CpuTopology MadeUpTopology()
    {
        _root.Write("sys/devices/system/cpu/online", "0-3\n");
        _root.Write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0,2-3\n");
        for (var cpu = 0; cpu < 4; cpu++)
        {
            _root.Write($"sys/devices/system/cpu/cpu{cpu}/topology/core_id", $"{cpu / 2}\n");
            _root.Write($"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id", "0\n");
            _root.Write($"sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list", "0-3\n");
        }
        return CpuTopology.Read(Files);
    }

    [Fact]
    public void CpusAndCoresAreRead()
    {
        var topology = MadeUpTopology();

        Assert.Equal([0, 2, 3], topology.Allowed);
        Assert.Equal(2, topology.AllowedCores());
        Assert.True(topology.ShareACore(2, 3));
        Assert.False(topology.ShareACore(0, 2));
    }

    [Fact]
    public void PeersArePinnedToDifferentCores()
    {
        var pins = Pins.Choose(null, MadeUpTopology());

        Assert.Equal((0, 2), (pins.Server, pins.Client));
    }

    [Fact]
    public void OnOneCpuBothAreThereAndItIsSaid()
    {
        var pins = Pins.Choose(null, new CpuTopology([5], [new CpuPlace(5, 0, 0, null)], []));

        Assert.Equal(new Pins(5, 5), pins);
        Assert.Contains("both on CPU 5", pins.Describe(), StringComparison.Ordinal);
    }

    [Fact]
    public void PinsCanBeChosenOrLeftOut()
    {
        Assert.Equal(new Pins(3, 0), Pins.Choose("3,0", MadeUpTopology()));
        Assert.Equal(Pins.None, Pins.Choose("none", MadeUpTopology()));
        Assert.Throws<UserMistakeException>(() => Pins.Choose("0,1", MadeUpTopology()));
    }

    [Theory]
    [InlineData("0-2,5", new[] { 0, 1, 2, 5 })]
    [InlineData("", new int[0])]
    [InlineData("junk", new int[0])]
    public void KernelListsAreNumbers(string list, int[] numbers) => Assert.Equal(numbers, CpuTopology.ParseList(list));

    [Fact]
    public void TheMachineIsReadFromTheKernelsFiles()
    {
        _root.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU\nflags\t\t: fpu hypervisor sse\n");
        _root.Write("proc/meminfo", "MemTotal:        1000 kB\nSwapTotal:        500 kB\nSwapFree:         400 kB\nHugepagesize:       2048 kB\n");
        _root.Write("sys/class/dmi/id/sys_vendor", "QEMU\n");
        _root.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        _root.Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
        _root.Write("proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\nMax locked memory         65536                8388608              bytes\n");
        _root.Write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
        _root.Write("proc/loadavg", "1.25 0.5 0.1 1/100 5\n");

        var machine = MachineReader.Read(Files, MadeUpTopology());

        Assert.Equal(("Fast CPU", "QEMU", "madvise"), (machine.Cpu.Model, machine.Virtualisation, machine.TransparentHugePages));
        Assert.Equal((1_024_000L, 102_400L, 2_097_152L), (machine.MemoryBytes, machine.SwapUsedBytes, machine.HugePageBytes));
        Assert.Equal((1.5, 65536L, 1.25, true), (machine.CpuQuota, machine.LockableMemoryBytes, machine.LoadAverage, machine.Cpu.Turbo));
        var checks = Doctor.Examine(machine, MadeUpTopology(), ["/tmp/CoreFxPipe_x"]).Where(c => c.Status == "warning").Select(c => c.Id);
        Assert.Equal(["turbo", "virtualisation", "load", "swap", "locked-memory", "cpu-quota", "stale-names"], checks);
    }

    [Fact]
    public void EveryWarningSaysHowToMendIt()
    {
        var machine = MachineReader.Read(Files, MadeUpTopology()) with { StealPercent = 3 };

        Assert.All(Doctor.Examine(machine, MadeUpTopology(), []), c => Assert.Equal(c.Status == "ok", c.Mend.Length == 0));
    }

    [Fact]
    public void EveryFindingSaysWhatItCostsHere()
    {
        var costs = new MachineCosts(null, null, null, null, null, null, 12e6, 4e6, 7, 10, 21, 60e3);
        // Ten looks over two seconds, of which five were further apart.
        var looked = costs.With([.. Enumerable.Range(0, 10).Select(i => (i is >= 3 and < 8 ? 400.0 : 100.0, 42_100.0 + (i is >= 3 and < 8 ? 300 : 0)))], 2);
        var machine = MachineReader.Read(Files, MadeUpTopology()) with { StealPercent = 3, Virtualisation = "QEMU" };

        var checks = Doctor.Examine(machine, MadeUpTopology(), [], looked).ToDictionary(c => c.Id);

        Assert.Equal((10, 1.0, 21_000.0), (looked.Looks, looked.MovesPerSecond, looked.WakeUpNs));
        Assert.Equal("in a second of computing, others took 12.0 ms, at most 4.00 ms at a time; an operation interrupted then waits that long",
            checks["steal"].Cost);
        Assert.Equal(("warning", "the host moved the processors about 1.0 times a second: nearer to each other or further apart"),
            (checks["moves"].Status, checks["moves"].Finding));
        Assert.Contains("(100 ns to 400 ns)", checks["sharing"].Cost, StringComparison.Ordinal);
        Assert.Equal("warning", checks["wake-up"].Status);
        Assert.Contains("resumes 21.0 µs after the signal", checks["virtualisation"].Cost, StringComparison.Ordinal);
        Assert.Equal("a reading takes 21.0 ns and is in every sample; it steps by 10.0 ns", checks["clock"].Cost);
        Assert.All(checks.Values.Where(c => c.Status != "ok"), c => Assert.NotEmpty(c.Mend));
        // Nothing measured, nothing claimed.
        Assert.All(Doctor.Examine(machine, MadeUpTopology(), []), c => Assert.Null(c.Cost));
    }

    [Fact]
    public void WhatThisProcessMeasuresOfTheMachineIsPossible()
    {
        var costs = CostMeter.Measure(TimeSpan.FromMilliseconds(50));

        Assert.InRange(costs.ClockStepNs, 1, 1e8);
        Assert.InRange(costs.ClockReadNs, 1, 1e6);
        Assert.InRange(costs.TakenPerSecondNs, 0, 1e9);
        Assert.True(costs.UnevenPercent >= 0 && costs.TimerLateNs > -1e6 && costs.LongestTakenNs <= 1e12);
    }

    [Fact]
    public void StealIsThePartOfAllTimeGivenToOthers()
    {
        _root.Write("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1\n");
        var meter = new StealMeter(Files);
        _root.Write("proc/stat", "cpu  150 0 100 840 0 0 0 10 0 0\ncpu0 1\n");

        Assert.Equal(10.0, meter.Percent());
    }

    // The demand is a latency of nothing, in four bytes, and holds while the file is open.
    [Fact]
    public void ProcessorsAreAwakeAsLongAsTheDemandIsOpen()
    {
        var device = Path.Combine(_root.Path, "cpu_dma_latency");
        File.WriteAllBytes(device, [9, 9, 9, 9]);
        bool IsOpen() => Directory.EnumerateFiles("/proc/self/fd").Any(fd => new FileInfo(fd).LinkTarget == device);

        using (AwakeProcessors.Hold(device))
        {
            Assert.True(IsOpen());
            Assert.Equal(new byte[4], File.ReadAllBytes(device));
        }
        Assert.False(IsOpen());
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(20, 20)]
    [InlineData(2_000_000_000, null)]
    public void WhatOthersDemandOfIdleProcessorsIsOnRecordAndJudged(int device, int? known)
    {
        Directory.CreateDirectory(Path.Combine(_root.Path, "dev"));
        File.WriteAllBytes(Path.Combine(_root.Path, "dev/cpu_dma_latency"), BitConverter.GetBytes(device));
        var topology = MadeUpTopology();

        var machine = MachineReader.Read(Files, topology);

        Assert.Equal(known, machine.Cpu.WakesWithinUs);
        Assert.Equal(known is null ? "ok" : "warning", Doctor.Examine(machine, topology, []).Single(c => c.Id == "idle").Status);
    }

    [Fact]
    public void ADeviceThatIsNotThereIsSaidWithWhatToDo()
    {
        var mistake = Assert.Throws<UserMistakeException>(() => AwakeProcessors.Hold(Path.Combine(_root.Path, "nowhere")));

        Assert.StartsWith("--awake needs '", mistake.Message, StringComparison.Ordinal);
        Assert.EndsWith("or omit --awake", mistake.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void AnUnknownSystemGivesUnknowns()
    {
        var machine = MachineReader.Read(Files, CpuTopology.Read(Files));

        Assert.Null(machine.MemoryBytes);
        Assert.Null(new StealMeter(Files).Percent());
        Assert.True(machine.Cpu.Cpus > 0);
    }
}
