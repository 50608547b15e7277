using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Running;

namespace Ipc.Lab.Tests;

/// <summary>Fake programs, plans and watchers.</summary>
internal static class Fakes
{
    public static string FakePeer { get; } = Path.Combine(AppContext.BaseDirectory, "fake-peer.sh");
    public static string FakeFloors { get; } = Path.Combine(AppContext.BaseDirectory, "fake-floors.sh");

    /// <summary>Programs whose peers misbehave as FAKE_PEER=<paramref name="mode"/> says; every start is logged.</summary>
    public static Programs Programs(TemporaryFolder folder, string mode = "right", string floors = "right")
    {
        var peer = Wrapper(folder, "peer", FakePeer, $"FAKE_PEER={mode} FAKE_PEER_LOG='{LogOf(folder)}'");
        var floorsProgram = Wrapper(folder, "floors", FakeFloors, $"FAKE_FLOORS={floors} FAKE_FLOORS_COUNT='{folder.Path}/floors.count'");
        return new Programs(null, name => name == "IPC_FLOORS" ? floorsProgram : peer);
    }

    /// <summary>Process ids of all peers started.</summary>
    public static IReadOnlyList<int> StartedPeers(TemporaryFolder folder) =>
        File.Exists(LogOf(folder)) ? [.. File.ReadAllLines(LogOf(folder)).Select(l => int.Parse(l.Split(' ')[0], null))] : [];

    /// <summary>Whether a peer of this role has been started: server, client, or alone, which those are as well that only introduce themselves.</summary>
    public static bool HasStarted(TemporaryFolder folder, string role) =>
        File.Exists(LogOf(folder)) && File.ReadAllLines(LogOf(folder)).Any(l => l.Split(' ')[1] == role);

    public static Plan Plan(params Cell[] cells) => new()
    {
        Schema = Planning.Plan.CurrentSchema,
        Preset = "chosen",
        Seed = 7,
        Schedule = new Schedule(Launches: 3, WarmupSeconds: 0.01, Seconds: 0.01, BudgetSeconds: null),
        Pins = Pins.None,
        Debug = false,
        Started = DateTimeOffset.UnixEpoch,
        Table = null,
        Binaries = [],
        Cells = [.. cells.Select(c => new PlannedCell(c, null))],
    };

    public static KeptPlan Kept(Plan plan) =>
        new(plan, MachineReader.Read(SystemFiles.Real, CpuTopology.Read(SystemFiles.Real)));

    public static RunSession Session(ResultsFolder folder, KeptPlan kept, Programs programs, IRunWatcher? watcher = null, RunSession? twin = null) => new(
        folder, kept, new Launcher(programs, LaunchBounds.Usual), new FloorsProgram(programs.Floors(), TimeSpan.FromSeconds(10)),
        watcher ?? new SilentWatcher())
    {
        Twin = twin,
    };

    /// <summary>Short, so that a hanging peer costs a test little; too short for peers that behave on a busy machine.</summary>
    public static LaunchBounds ShortBounds { get; } = new()
    {
        Start = TimeSpan.FromSeconds(2),
        Measure = TimeSpan.FromSeconds(2),
        Answer = TimeSpan.FromSeconds(2),
    };

    private static string LogOf(TemporaryFolder folder) => Path.Combine(folder.Path, "peers.log");

    private static string Wrapper(TemporaryFolder folder, string name, string program, string environment)
    {
        var path = folder.Write(name, $"#!/bin/bash\n{environment} exec '{program}' \"$@\"\n");
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}

/// <summary>Hears everything, says nothing; can ask for a stop when a given launch starts.</summary>
internal sealed class SilentWatcher(Action<int>? onLaunch = null) : IRunWatcher
{
    private int _launches;

    public List<string> Failures { get; } = [];

    public void RoundStarts(int round, int rounds)
    {
    }

    public void LaunchStarts(Cell cell, int done, int total, TimeSpan left) => onLaunch?.Invoke(++_launches);

    public void Failed(string what, string reason) => Failures.Add($"{what}: {reason}");

    public void Note(string sentence)
    {
    }
}
