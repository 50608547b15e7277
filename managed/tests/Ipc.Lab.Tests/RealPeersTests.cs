using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Launches with the real peers of a built tree: every pair, shortly.</summary>
public sealed class RealPeersTests : IDisposable
{
    private const int Count = 2000; // messages of each client

    private static readonly (string Transport, string Scenario, string Workload)[] s_cells =
    [
        ("shm", "oneway", "oneway-32"), ("shm", "oneway-batch", "oneway-0.1k"), ("shm", "fanin", "oneway-3k"),
        ("unix", "oneway-batch", "oneway-32"), ("pipe", "fanin", "oneway-0.1k"), ("pipe", "oneway", "oneway-3k"),
        // Whatever the registry has of the other kinds.
        .. Registry.Transports.Where(t => t.Kind == "queue").SelectMany(t => ((string, string, string)[])[(t.Id, "oneway", "oneway-32"), (t.Id, "fanin", "oneway-0.1k")]),
        .. Registry.Transports.Where(t => t.Kind == "broadcast").Select(t => (t.Id, "broadcast", "oneway-32")),
    ];

    private readonly TemporaryFolder _folder = new();

    // Every pair of .NET 10 and native; of the sides that not every machine has, those in which they meet native code and themselves.
    public static TheoryData<string> Pairs { get; } = [.. PairsOfMessages(), .. ((string[])["native:hosted", "hosted:native", "hosted:hosted"]).Where(IsPlayable)];

    // Side hosted plays what a handler has a part in, which messages without replies have not.
    public static TheoryData<string> MessagePairs { get; } = [.. PairsOfMessages()];

    private static IEnumerable<string> PairsOfMessages() =>
    [
        .. Grid.AllPairs.Where(pair => !pair.Contains("netfx", StringComparison.Ordinal) && !pair.Contains("hosted", StringComparison.Ordinal)),
        .. ((string[])["native:managed-netfx", "managed-netfx:native", "managed-netfx:managed-netfx", "bound-netfx:bound-netfx"]).Where(IsPlayable),
    ];

    private static bool IsPlayable(string pair) => pair.Split(':').All(side => Programs.OfThisTree().WhyCannotPlay(side) is null);

    public void Dispose() => _folder.Dispose();

    [Theory]
    [MemberData(nameof(MessagePairs))]
    public async Task EveryPairCountsTheSameAtBothEnds(string pair)
    {
        var launcher = new Launcher(Programs.OfThisTree(), LaunchBounds.Usual);
        foreach (var (transport, scenario, workload) in s_cells.Where(cell => pair.Split(':').All(side => Registry.WhyNotAvailable(cell.Transport, side).Length == 0)))
        {
            var cell = new Cell(transport, pair, "raw", scenario, workload, Count);
            var task = new LaunchTask(
                cell, PeerWorkloads.Of(workload, null), $"lab-test-{Guid.NewGuid():N}"[..24], 7, Pins.None, new LaunchTiming(0.02, 0.02),
                Path.Combine(_folder.Path, "launch.u32"));

            var (record, samples) = await launcher.RunAsync(task, 0, 0, CancellationToken.None);

            Assert.Equal((long)Count * cell.Scene.Clients, record.Operations + record.Lost);
            Assert.Equal(record.Operations * Choices.WorkloadEntry(workload).RequestBytes, record.Bytes);
            Assert.InRange(samples.Length, 1, Count * cell.Scene.Clients / cell.Scene.Portion);
            if (cell.Scene.Receiver == "server")
                Assert.Equal(0, record.Lost);
            Assert.True(record.Server!.After!.CpuNs >= record.Server.Before!.CpuNs);
            Assert.True(record.Client!.After!.CpuNs >= record.Client.Before!.CpuNs);
        }
    }

    // Over every transport whose calls come by channel or alone, with the codecs in turn; foreign libraries' daemons are another test's.
    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task EveryPairCollectsAndSplitsBuckets(string pair)
    {
        const int buckets = 4;
        var transports = Registry.Transports.Where(t => t.Module is null && Choices.ScenarioEntry("batch").Kinds.Contains(t.Kind) && IsPlayed(t.Id, pair)).ToList();
        Assert.NotEmpty(transports);
        string[] codecs = ["custom", "protobuf", "json", "raw", "protobuf-direct"];
        for (var i = 0; i < Math.Max(transports.Count, codecs.Length); i++)
        {
            var cell = new Cell(transports[i % transports.Count].Id, pair, codecs[i % codecs.Length], "batch", i % 2 == 0 ? "batch-10" : "batch-500", buckets);
            var (record, samples) = await LaunchAsync(cell);

            // A sample is a bucket, everything else counts objects.
            Assert.Equal((buckets, buckets * cell.Load.Bucket), (samples.Length, record.Operations));
            Assert.True(record.ServerOperations >= record.Operations, $"the server answered {record.ServerOperations} objects");
            Assert.Equal(0, record.ServerOperations % cell.Load.Bucket);
            Assert.InRange(record.Bytes / record.Operations, 1100, 2500);
        }
    }

    // Over every transport, at two of the depths each, one with bytes and one with objects: all pairs together meet all of them. Whoever submits more than are asked for has
    // the rest answered, too.
    [Theory]
    [MemberData(nameof(MessagePairs))]
    public async Task EveryPairHasCallsInFlight(string pair)
    {
        const int calls = 300;
        var scenarios = Registry.Scenarios.Where(s => s.PlayedAs == "pipelined").OrderBy(s => s.InFlight).ToList();
        Assert.Equal([1, 8, 64, 256], scenarios.Select(s => s.InFlight));
        string[] codecs = ["custom", "protobuf", "json", "protobuf-direct"];
        // The same every time, and another for each pair.
        var turn = pair.Sum(c => c);
        foreach (var transport in Registry.Transports.Where(t => t.Module is null && t.MostInFlight?.ContainsKey(Registry.Platform) != true && t.Kind == "channel" && IsPlayed(t.Id, pair)))
        {
            turn++;
            foreach (var (codec, workload, scenario) in ((string, string, ScenarioEntry)[])[("raw", "64", scenarios[turn % 4]), (codecs[turn % 4], "0.1k-1k", scenarios[(turn + 2) % 4])])
            {
                var (record, samples) = await LaunchAsync(new Cell(transport.Id, pair, codec, scenario.Id, workload, calls));

                Assert.Equal((calls, calls), (record.Operations, samples.Length));
                Assert.InRange(record.Bytes, calls * (codec == "raw" ? 128 : 1000), calls * (codec == "raw" ? 128 : 3000));
                Assert.InRange(record.ServerOperations!.Value, calls + scenario.InFlight - 1, long.MaxValue);
                // So many were under way at a time, and never more.
                Assert.InRange(record.TimedNs, 1, (scenario.InFlight * record.ElapsedNs) + calls);
            }
        }
    }

    // Calls come when they are due, not earlier, and no more than that many; the server is asked no oftener while things settle.
    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task EveryPairKeepsThePace(string pair)
    {
        const int calls = 40;
        foreach (var transport in ((string[])["shm", "unix"]).Where(t => IsPlayed(t, pair)))
        {
            var cell = new Cell(transport, pair, "raw", "paced", "paced-100", calls);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((calls, calls), (record.Operations, samples.Length));
            Assert.InRange(record.ElapsedNs, calls * 10_000_000L, long.MaxValue);
            Assert.InRange(record.ServerOperations!.Value, calls, 10 * calls);
            // What waiting spins away is not the calls' cost: it alone would be three tenths of a processor.
            Assert.True(record.Client!.After!.CpuNs - record.Client.Before!.CpuNs < record.ElapsedNs);
        }
    }

    // Processes know it as a call; where they run is the lab's doing.
    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task EveryPairTakesTurnsOnOneCpu(string pair)
    {
        const int calls = 50;
        var cpu = CpuTopology.Read(SystemFiles.Real).Allowed[0];
        foreach (var transport in ((string[])["shm", "pipe"]).Where(t => IsPlayed(t, pair)))
        {
            var cell = new Cell(transport, pair, "raw", "one-cpu", "64", calls);
            var (record, samples) = await LaunchAsync(cell, new Pins(cpu, null).For(cell.Scene));

            Assert.Equal((calls, calls, calls * 128), (record.Operations, samples.Length, record.Bytes));
            // Nobody can answer before the other has gone to sleep or been sent away.
            Assert.InRange(SwitchesOf(record.Client!), calls, long.MaxValue);
        }
    }

    // Each call has a connection of its own, and the last, of nothing, tells the server that it is done.
    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task EveryPairReconnectsForEveryCall(string pair)
    {
        const int calls = 20;
        foreach (var transport in Registry.Transports.Where(t => t.Module is null && t.Kind == "channel" && IsPlayed(t.Id, pair)))
        {
            var (record, samples) = await LaunchAsync(new Cell(transport.Id, pair, "raw", "reconnect", "64", calls));

            Assert.Equal((calls, calls, calls * 128), (record.Operations, samples.Length, record.Bytes));
            Assert.InRange(record.ServerOperations!.Value, calls, long.MaxValue);
        }
    }

    // The server's start and the client's are two figures, and its own call lies within the client's.
    [Theory]
    [MemberData(nameof(Pairs))]
    public async Task EveryPairIsTimedFromItsStart(string pair)
    {
        var (record, samples) = await LaunchAsync(new Cell("shm", pair, "raw", "startup", "64", 1));

        Assert.Equal((1, 1, 128), (record.Operations, samples.Length, record.Bytes));
        Assert.Equal(samples[0], record.Phases!["first_reply_ns"]!.Value, 1.0);
        Assert.InRange(record.ColdNs!.Value, 1, samples[0]);
        // No process is there within a tenth of a millisecond.
        Assert.All((double[])[samples[0], record.Phases["server_ready_ns"]!.Value], ns => Assert.InRange(ns, 1e5, 60e9));
    }

    [Theory]
    [InlineData("native", "native")]
    [InlineData("managed", "managed")]
    public async Task MemoryIsReadFromOutside(string server, string client)
    {
        var (record, _) = await LaunchAsync(new Cell("unix", $"{server}:{client}", "raw", "footprint", "64"));

        var bytes = record.Phases!;
        foreach (var what in (string[])["idle_server", "idle_client", "connected_server", "connected_client", "ten_servers"])
            Assert.InRange(bytes[$"{what}_private_bytes"]!.Value, 4096, bytes[$"{what}_proportional_bytes"]!.Value);
        // A process shares no more than it has, and ten have more than one.
        Assert.InRange(bytes["ten_servers_private_bytes"]!.Value, 3 * bytes["idle_server_private_bytes"]!.Value, 30 * bytes["idle_server_private_bytes"]!.Value);
    }

    // Who spins takes a processor, who sleeps next to nothing; both halves of a claim about waiting.
    [Theory]
    [InlineData("native:managed")]
    [InlineData("managed:native")]
    public async Task AnIdleSecondCostsWhatWaitingCosts(string pair)
    {
        async Task<IReadOnlyDictionary<string, double?>> IdleAsync(string transport) => (await LaunchAsync(new Cell(transport, pair, "raw", "idle", "64", 100))).Record.Phases!;
        var (asleep, awake) = (await IdleAsync("shm?wait=block"), await IdleAsync("shm?wait=spin"));

        Assert.All((string[])["server", "client"], side => Assert.InRange(asleep[$"idle_{side}_cpu_ns"]!.Value, 0, 0.2e9));
        // On a machine that others use a spinning thread has less than a whole processor.
        Assert.InRange(awake["idle_server_cpu_ns"]!.Value, 4 * Math.Max(0.01e9, asleep["idle_server_cpu_ns"]!.Value), 1.5e9);
        Assert.InRange(awake["idle_client_cpu_ns"]!.Value, 0, 0.2e9);
    }

    [Fact]
    public void ProcessorTimeIsTheFirstNumberOfTheKernelsLine() => Assert.Equal(123456789, ProcessorTime.Parse("123456789 42 7\n"));

    // So many messages, one byte back: a sample is all of them, everything else counts messages.
    [Theory]
    [MemberData(nameof(MessagePairs))]
    public async Task EveryPairConfirmsManyMessagesByOneByte(string pair)
    {
        const int confirmations = 5;
        foreach (var (transport, workload) in ((string, string)[])[("shm", "push-1k-100"), ("unix", "push-1k-10"), ("shm-event?wait=spin", "push-1k-10")])
        {
            if (!IsPlayed(TransportSpec.IdOf(transport), pair))
                continue;
            var cell = new Cell(transport, pair, "raw", "push-many", workload, confirmations);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((confirmations, confirmations * cell.Load.Bucket), (samples.Length, record.Operations));
            Assert.Equal(confirmations * ((cell.Load.Bucket * 1000) + 1), record.Bytes);
        }
    }

    // The same scenarios with other numbers of processes; each sends as many, so that the slowest is told from the fastest by its time.
    [Theory]
    [InlineData("shm", "fanin-2", "native:managed")]
    [InlineData("unix", "fanin-8", "managed:native")]
    [InlineData("queue", "fanin-2", "managed:managed")]
    [InlineData("shm", "fanin-threads", "managed:native")]
    [InlineData("unix", "fanin-threads-8", "native:managed")]
    [InlineData("tcp", "fanin-threads-1", "bound:bound")]
    [InlineData("queue", "fanin-threads-2", "native:managed")]
    [InlineData("queue", "fanin-threads", "managed:native")]
    [InlineData("broadcast", "broadcast-2", "native:managed")]
    public async Task ScenariosAreMadeOfOtherNumbersOfProcesses(string transport, string scenario, string pair)
    {
        var cell = new Cell(transport, pair, "raw", scenario, "oneway-32", Count);
        var (record, _) = await LaunchAsync(cell);

        Assert.Equal((long)Count * cell.Scene.ClientThreads, record.Operations + record.Lost);
        if (cell.Scene.Receiver == "server" && cell.Scene.ClientThreads > 1)
            Assert.InRange(record.SlowestByFastest!.Value, 1e-9, 1);
        else
            Assert.Null(record.SlowestByFastest);
    }

    private static long SwitchesOf(UsageSpan span) => (span.After!.VoluntarySwitches + span.After.InvoluntarySwitches - span.Before!.VoluntarySwitches - span.Before.InvoluntarySwitches)!.Value;

    private async Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(Cell cell, Pins? pins = null)
    {
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(cell.Workload, null), $"lab-test-{Guid.NewGuid():N}"[..24], 7, pins ?? Pins.None, new LaunchTiming(0.02, 0.02),
            Path.Combine(_folder.Path, "launch.u32"));
        return await new Launcher(Programs.OfThisTree(), LaunchBounds.Usual).RunAsync(task, 0, 0, CancellationToken.None);
    }

    private static bool IsPlayed(string transport, string pair) => pair.Split(':').All(side => Registry.WhyNotAvailable(transport, side).Length == 0);
}
