using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>The same for what concerns the processes: how they connect, start, wait, share a processor and how much memory they take.</summary>
public sealed class RealProcessesTests : RealPeers
{
    // Calls come when they are due, not earlier, and no more than that many; the server is asked no oftener while things settle.
    [Theory]
    [MemberData(nameof(BothParts))]
    public async Task EverySideKeepsThePace(string pair)
    {
        const int calls = 40;
        foreach (var transport in ((string[])["shm", "unix"]).Where(t => IsPlayed(t, pair)))
        {
            var cell = new Cell(transport, pair, "raw", "paced", "paced-100", calls);
            var (record, samples) = await LaunchAsync(cell, settles: true);

            Assert.Equal((calls, calls), (record.Operations, samples.Length));
            Assert.InRange(record.ElapsedNs, calls * 10_000_000L, long.MaxValue);
            Assert.InRange(record.ServerOperations!.Value, calls, 10 * calls);
            // What waiting spins away is not the calls' cost: it alone would be three tenths of a processor.
            Assert.True(record.Client!.After!.CpuNs - record.Client.Before!.CpuNs < record.ElapsedNs);
        }
    }

    // Processes know it as a call; where they run is the lab's doing.
    [Theory]
    [MemberData(nameof(BothParts))]
    public async Task EverySideTakesTurnsOnOneCpu(string pair)
    {
        const int calls = 50;
        var cpu = CpuTopology.Read(SystemFiles.Real).Allowed[0];
        foreach (var transport in ((string[])["shm", "pipe"]).Where(t => IsPlayed(t, pair)))
        {
            var cell = new Cell(transport, pair, "raw", "one-cpu", "64", calls);
            var (record, samples) = await LaunchAsync(cell, new Pins(cpu, null).For(cell.Scene), settles: true);

            Assert.Equal((calls, calls, calls * 128), (record.Operations, samples.Length, record.Bytes));
            // Nobody can answer before the other has gone to sleep or been sent away.
            Assert.InRange(SwitchesOf(record.Client!), calls, long.MaxValue);
        }
    }

    // Every exchange has messages of its own, and the two ends must choose the same, also when 150 calls come round to the first of 61 again.
    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideTakesItsDataInTurns(string pair)
    {
        const int calls = 150;
        string[] transports = [.. Registry.Transports.Where(t => t.Module is null && t.Kind == "channel" && IsPlayed(t.Id, pair)).Select(t => t.Id)];
        Assert.NotEmpty(transports);
        for (var i = 0; i < transports.Length; i++)
        {
            var cell = new Cell(transports[i], pair, "raw", i % 2 == 0 ? "shuffled" : "in-order", i % 3 == 0 ? "100k-1000k" : "64", calls);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((calls, calls, calls * ((long)cell.Load.RequestBytes + cell.Load.ReplyBytes)), (record.Operations, samples.Length, record.Bytes));
            Assert.InRange(record.ServerOperations!.Value, calls, long.MaxValue);
        }
    }

    // Processes know it as a call; that one of them has 32 bits is the program's doing.
    [BitnessTheory]
    [MemberData(nameof(PairsOfTwoWordSizes))]
    public async Task ProcessesOf32BitsCallThoseOf64(string pair)
    {
        const int calls = 20;
        foreach (var transport in Registry.Transports.Where(t => Choices.ScenarioEntry("bitness").Kinds.Contains(t.Kind) && IsPlayed(t.Id, pair)))
        {
            var cell = new Cell(transport.Id, pair, "raw", "bitness", "1k-10k", calls);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((calls, calls, calls * 11_000), (record.Operations, samples.Length, record.Bytes));
        }
    }

    // Also while the 32-bit peer is not built: then the launches say so.
    public static TheoryData<string> PairsOfTwoWordSizes { get; } =
        [.. Choices.ScenarioEntry("bitness").Pairs!.Where(pair => pair.Contains(X86, StringComparison.Ordinal)
            && pair.Split(':').All(side => side == X86 || IsPlayable(side)))];

    private const string X86 = "native-x86";

    // Each call has a connection of its own, and the last, of nothing, tells the server that it is done.
    [Theory]
    [MemberData(nameof(BothParts))]
    public async Task EverySideReconnectsForEveryCall(string pair)
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
        Assert.InRange(bytes["ten_servers_private_bytes"]!.Value, 3 * bytes["idle_server_private_bytes"]!.Value,
            30 * bytes["idle_server_private_bytes"]!.Value);
    }

    // Who spins takes a processor, who sleeps next to nothing; both halves of a claim about waiting.
    [Theory]
    [InlineData("native:managed")]
    [InlineData("managed:native")]
    public async Task AnIdleSecondCostsWhatWaitingCosts(string pair)
    {
        async Task<IReadOnlyDictionary<string, double?>> IdleAsync(string transport) =>
            (await LaunchAsync(new Cell(transport, pair, "raw", "idle", "64", 100))).Record.Phases!;
        var (asleep, awake) = (await IdleAsync("shm?wait=block"), await IdleAsync("shm?wait=spin"));

        Assert.All((string[])["server", "client"], side => Assert.InRange(asleep[$"idle_{side}_cpu_ns"]!.Value, 0, 0.2e9));
        // On a machine that others use a spinning thread has less than a whole processor.
        Assert.InRange(awake["idle_server_cpu_ns"]!.Value, 4 * Math.Max(0.01e9, asleep["idle_server_cpu_ns"]!.Value), 1.5e9);
        Assert.InRange(awake["idle_client_cpu_ns"]!.Value, 0, 0.2e9);
    }

    [Fact]
    public void ProcessorTimeIsTheFirstNumberOfTheKernelsLine() => Assert.Equal(123456789, ProcessorTime.Parse("123456789 42 7\n"));

    private static long SwitchesOf(UsageSpan span) =>
        (span.After!.VoluntarySwitches + span.After.InvoluntarySwitches - span.Before!.VoluntarySwitches - span.Before.InvoluntarySwitches)!.Value;
}
