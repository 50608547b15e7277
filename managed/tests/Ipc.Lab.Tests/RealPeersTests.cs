using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Launches with the real peers of a built tree: every side as server and as client, shortly. Messages, and calls of every kind over one
/// connection.</summary>
public sealed class RealPeersTests : RealPeers
{
    private const int Count = 2000; // messages of each client

    private static readonly (string Transport, string Scenario, string Workload)[] s_cells =
    [
        ("shm", "oneway", "oneway-32"), ("shm", "oneway-batch", "oneway-0.1k"), ("shm", "fanin", "oneway-3k"),
        ("unix", "oneway-batch", "oneway-32"), ("pipe", "fanin", "oneway-0.1k"), ("pipe", "oneway", "oneway-3k"),
        // Whatever the registry has of the other kinds.
        .. Registry.Transports.Where(t => t.Kind == "queue")
            .SelectMany(t => ((string, string, string)[])[(t.Id, "oneway", "oneway-32"), (t.Id, "fanin", "oneway-0.1k")]),
        .. Registry.Transports.Where(t => t.Kind == "broadcast").Select(t => (t.Id, "broadcast", "oneway-32")),
    ];

    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideCountsTheSameAtBothEnds(string pair)
    {
        foreach (var (transport, scenario, workload) in s_cells.Where(cell =>
            pair.Split(':').All(side => Registry.WhyNotAvailable(cell.Transport, side).Length == 0)))
        {
            var cell = new Cell(transport, pair, "raw", scenario, workload, Count);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((long)Count * cell.Scene.Clients, record.Operations + record.Lost);
            Assert.Equal(record.Operations * Choices.WorkloadEntry(workload).RequestBytes, record.Bytes);
            Assert.InRange(samples.Length, 1, Count * cell.Scene.Clients / cell.Scene.Portion);
            if (cell.Scene.Receiver == "server")
                Assert.Equal(0, record.Lost);
            Assert.True(record.Server!.After!.CpuNs >= record.Server.Before!.CpuNs);
            Assert.True(record.Client!.After!.CpuNs >= record.Client.Before!.CpuNs);
        }
    }

    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideAnswersByAHandler(string pair)
    {
        const int calls = 200;
        foreach (var (transport, workload) in ((string, string)[])[("shm", "64"), ("unix", "1k-10k")])
        {
            var cell = new Cell(transport, pair, "raw", "handler", workload, calls);
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((calls, calls, calls * ((long)cell.Load.RequestBytes + cell.Load.ReplyBytes)), (record.Operations, samples.Length, record.Bytes));
            Assert.InRange(record.ServerOperations!.Value, calls, long.MaxValue);
        }
    }

    [Theory]
    [MemberData(nameof(PairsAlone))]
    public async Task EverySideSerializesAlone(string pair)
    {
        foreach (var cell in CellsAlone(pair))
        {
            var (record, samples) = await LaunchAsync(cell);

            Assert.Contains(record.Status, (string[])["ok", "unsteady"]);
            Assert.NotEmpty(samples);
        }
    }

    // Over every transport whose calls come by channel or alone, with the codecs in turn; foreign libraries' daemons are another test's.
    [Theory]
    [MemberData(nameof(BothParts))]
    public async Task EverySideCollectsAndSplitsBuckets(string pair)
    {
        const int buckets = 4;
        var transports = Registry.Transports.Where(t => t.Module is null && Choices.ScenarioEntry("batch").Kinds.Contains(t.Kind) && IsPlayed(t.Id, pair))
            .ToList();
        Assert.NotEmpty(transports);
        string[] codecs = ["custom", "protobuf", "json", "raw", "protobuf-direct", "flatbuffers"];
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

    // Over every transport, at two of the depths each, one with bytes and one with objects: all transports together meet all of them. Whoever submits
    // more than are asked for has the rest answered, too.
    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideHasCallsInFlight(string pair)
    {
        const int calls = 300;
        var scenarios = Registry.Scenarios.Where(s => s.PlayedAs == "pipelined").OrderBy(s => s.InFlight).ToList();
        Assert.Equal([1, 8, 64, 256], scenarios.Select(s => s.InFlight));
        string[] codecs = ["custom", "protobuf", "json", "protobuf-direct", "flatbuffers"];
        // The same every time, and another for each pair.
        var turn = pair.Sum(c => c);
        foreach (var transport in Registry.Transports.Where(t =>
            t.Module is null && t.MostInFlight?.ContainsKey(Registry.Platform) != true && t.Kind == "channel" && IsPlayed(t.Id, pair)))
        {
            turn++;
            foreach (var (codec, workload, scenario) in ((string, string, ScenarioEntry)[])[("raw", "64", scenarios[turn % 4]),
                (codecs[turn % codecs.Length], "0.1k-1k", scenarios[(turn + 2) % 4])])
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

    // So many messages, one byte back: a sample is all of them, everything else counts messages.
    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideConfirmsManyMessagesByOneByte(string pair)
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

    // A sample of each message, and one operation for all its receivers.
    [Theory]
    [MemberData(nameof(BothPartsOfMessages))]
    public async Task EverySideTimesAMessageUntilTheLastClientHasIt(string pair)
    {
        const int messages = 500;
        var transports = Registry.Transports.Where(t => t.Kind == "broadcast" && IsPlayed(t.Id, pair)).ToList();
        foreach (var cell in transports.Select(t => new Cell(t.Id, pair, "raw", "broadcast-last-2", "publish-10k", messages)))
        {
            var (record, samples) = await LaunchAsync(cell);

            Assert.Equal((messages, messages, messages * 64), (record.Operations, samples.Length, record.Bytes));
            Assert.Equal(samples.Sum(s => (long)s), record.TimedNs);
            Assert.All(samples, s => Assert.InRange(s, 1u, uint.MaxValue - 1));
        }
    }

    // A client that pauses holds up who waits for it, and nobody else; what it costs the others is what the others' figures say.
    [Theory]
    [InlineData("broadcast", "native:native")]
    [InlineData("broadcast", "native:managed")]
    [InlineData("broadcast", "managed:native")]
    [InlineData("broadcast?policy=drop", "native:managed")]
    [InlineData("broadcast?policy=drop", "managed:native")]
    public async Task ASlowClientIsNotTimedButHoldsUpWhoWaitsForIt(string transport, string pair)
    {
        // More than the ring holds, so that the publisher has to wait or to drop.
        const int messages = 60_000, timedClients = 3;
        const double leastPausesNs = 0.3 * messages / 100 * 1e6;
        var (record, samples) = await LaunchAsync(new Cell(transport, pair, "raw", "broadcast-slow", "oneway-32", messages));

        Assert.NotEmpty(samples);
        if (transport == "broadcast")
        {
            Assert.Equal((messages * timedClients, 0), (record.Operations, record.Lost));
            Assert.InRange(record.ElapsedNs, leastPausesNs, double.MaxValue);
        }
        else
        {
            // Of the timed ones' messages and the slow one's, which is not among Operations.
            Assert.InRange(record.Lost, 1, messages * (timedClients + 1));
            Assert.InRange(record.Operations, 1, messages * timedClients);
        }
    }

    // The publisher waits for a subscriber that was killed until it sees that; then all goes on, and the others have every message.
    [Theory]
    [InlineData("native:native")]
    [InlineData("native:managed")]
    [InlineData("managed:native")]
    public async Task ADeadClientHoldsUpTheOthersAndNoLonger(string pair)
    {
        const int messages = 400_000, timedClients = 3;
        var (record, samples) = await LaunchAsync(new Cell("broadcast", pair, "raw", "broadcast-dead", "oneway-32", messages));

        Assert.Equal((messages * timedClients, 0), (record.Operations, record.Lost));
        Assert.InRange(samples.Length, 1, messages * timedClients / 1000);
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
}
