using Ipc.Lab.Planning;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Launches of one-way scenarios against peers that behave and peers that do not.</summary>
public sealed class OneWayLaunchTests : IDisposable
{
    private static readonly Cell s_oneWay = new("shm", "native:managed", "raw", "oneway", "oneway-32");
    private static readonly Cell s_fanin = new("shm", "native:managed", "raw", "fanin", "oneway-32");

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(Cell cell, string mode) => LaunchAsync(cell, Fakes.Programs(_folder, mode));

    private async Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(Cell cell, Programs programs)
    {
        var launcher = new Launcher(programs, LaunchBounds.Usual);
        var samples = Path.Combine(_folder.Path, "launch.u32");
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(cell.Workload, null), $"lab-test-{Guid.NewGuid():N}"[..24], 7, new Pins(0, 1), new LaunchTiming(0.01, 0.01), samples);
        try
        {
            return await launcher.RunAsync(task, 0, 0, CancellationToken.None);
        }
        finally
        {
            Assert.False(File.Exists(samples));
            foreach (var id in Fakes.StartedPeers(_folder))
                Assert.False(Directory.Exists($"/proc/{id}") && !File.ReadAllText($"/proc/{id}/stat").Contains(") Z", StringComparison.Ordinal),
                    $"peer {id} still runs");
        }
    }

    [Fact]
    public async Task TheServerMeasuresWhatTheClientSends()
    {
        var (record, samples) = await LaunchAsync(s_oneWay, "right");

        Assert.Equal(("ok", 10L, 20L, 20L, 320L, 0L), (record.Status, record.Operations, record.ElapsedNs, record.TimedNs, record.Bytes, record.Lost));
        Assert.Equal((70000L, 10L), (record.ColdNs, record.ServerOperations));
        Assert.Equal((4000L, 1000L), (record.Server!.After!.CpuNs, record.Client!.After!.CpuNs));
        Assert.Equal([2000u, 2000u], samples);
    }

    [Fact]
    public async Task AllClientsOfAFaninAreStartedAndCounted()
    {
        var (record, _) = await LaunchAsync(s_fanin, "right");

        Assert.Equal(5, Fakes.StartedPeers(_folder).Count);
        Assert.Equal((40L, 40L), (record.Operations, record.ServerOperations));
        // What the clients used, together.
        Assert.Equal((4000L, 80L, 4 * 4096L), (record.Client!.After!.CpuNs, record.Client.After.VoluntarySwitches, record.Client.After.MemoryBytes));
    }

    [Theory]
    [InlineData("losing-early", "WRONG_CONTENT", "3 messages were sent in the warm-up and 2 received: the transport lost or doubled some")]
    [InlineData("losing-server", "WRONG_CONTENT", "10 messages were sent in the measurement and 9 received: the transport lost or doubled some")]
    [InlineData("doubling-server", "WRONG_CONTENT", "10 messages were sent in the measurement and 11 received: the transport lost or doubled some")]
    [InlineData("no-samples", "WRONG_FIGURES", "0 samples were written for 10 messages")]
    [InlineData("failed-server", "WRONG_CONTENT", "the server says: exchange 3 came twice")]
    [InlineData("failed-client", "WRONG_CONTENT", "the client says: exchange 3 came twice")]
    public async Task AWrongLostOrDoubledMessageFailsTheCell(string mode, string status, string reason)
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync(s_oneWay, mode));

        Assert.Equal((status, reason), (failure.Status, failure.Reason));
    }

    [Fact]
    public async Task AClientThatCannotBeStartedLeavesNoServer()
    {
        var server = Fakes.Programs(_folder).NativePeer().Path;
        var programs = new Programs(null, name => name == "IPC_NATIVE_PEER" ? server : "/nowhere");

        await Assert.ThrowsAsync<UserMistakeException>(() => LaunchAsync(s_oneWay, programs));

        Assert.DoesNotContain(Directory.EnumerateDirectories("/proc"), HasThisTestsEnvironment);
    }

    // It has not been told its cell, so it is in no log.
    private bool HasThisTestsEnvironment(string process)
    {
        try
        {
            return File.ReadAllText(Path.Combine(process, "environ")).Contains(_folder.Path, StringComparison.Ordinal);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false; // no process, or one that has ended
        }
    }

    [Fact]
    public async Task OneDeadClientOfSeveralFailsTheCellByItsName()
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync(s_fanin, "dead-second"));

        Assert.Equal(("ENDED_EARLY", "the client 2 ended with exit code 7 before 'measured'; its last words: out of luck"), (failure.Status, failure.Reason));
    }

    [Fact]
    public void WhatABroadcastSaysItDroppedIsNotLost()
    {
        OneWayClaims.CheckArrived("measurement", [100], [new Received(60, 1, 1, 40, null, null), new Received(100, 1, 1, 0, null, null)]);

        var failure = Assert.Throws<PeerFailure>(() => OneWayClaims.CheckArrived("measurement", [100], [new Received(60, 1, 1, 39, null, null)]));
        Assert.Equal("100 messages were sent in the measurement and 60 received (39 more reported lost): the transport lost or doubled some", failure.Reason);
    }

    [Fact]
    public void AMessageIsTimedUntilItsLastReceiverHasIt()
    {
        var all = new Received(3, 1, 1, 0, null, null);
        Assert.Equal([7u, 9u, 3u], OneWayClaims.UntilTheLast([all, all], [[7, 1, 3], [2, 9, 3]]));

        var lost = Assert.Throws<PeerFailure>(() => OneWayClaims.UntilTheLast([all, all with { Operations = 2, Lost = 1 }], [[7, 1, 3], [2, 9]]));
        Assert.Equal("1 messages were lost, so nobody can say when the last receiver had them: choose policy=wait, or a lower rate", lost.Reason);
        var untimed = Assert.Throws<PeerFailure>(() => OneWayClaims.UntilTheLast([all, all], [[7, 1, 3], [2, 9]]));
        Assert.Equal("client 2 timed 2 of 3 messages", untimed.Reason);
    }

    [Fact]
    public async Task FiguresAreNanosecondsPerMessageHeldAgainstTheOneWayFloor()
    {
        var kept = Fakes.Kept(Fakes.Plan(s_oneWay, s_oneWay with { Scenario = "oneway-batch" }));
        var folder = new ResultsFolder(Path.Combine(_folder.Path, "results"));
        folder.Create(kept);
        var session = Fakes.Session(folder, kept, Fakes.Programs(_folder));

        Assert.True(await session.RunAsync(CancellationToken.None));
        var results = session.WriteResults();

        Assert.All(results.Cells, c => Assert.Equal(("ok", 30L, 2.0, 2.0), (c.Status, c.Operations, c.P50Ns, c.MaxNs)));
        Assert.Equal(("oneway", 4.0, 0.5), (results.Cells[0].Floor, results.Cells[0].FloorNs, results.Cells[0].FloorRatio));
        Assert.Equal((1.0, 2.0), (results.Cells[1].FloorNs, results.Cells[1].FloorRatio));
        Assert.Equal(5e8, results.Cells[0].OpsPerS!.Value, 1);
        Assert.Equal(new OneWayFloor(4, 1), results.Floors!.OnewayNs!["32"]);

        using var lines = new StringWriter();
        ConsoleReport.WriteLines(lines, results);
        Assert.Contains("p50 2.00 ns\tp99 -\t500 M messages/s\tx floor 0.50", lines.ToString(), StringComparison.Ordinal);
        var markdown = MarkdownReport.Write(results);
        Assert.Contains("## oneway oneway-32 raw\n\n| transport | server:client | p50 |", markdown, StringComparison.Ordinal);
        Assert.Contains("| messages/s |", markdown, StringComparison.Ordinal);
        Assert.Contains("| one way, 32 B, one by one; by 64 (per message) | 4.00 ns; 1.00 ns |", markdown, StringComparison.Ordinal);
    }
}
