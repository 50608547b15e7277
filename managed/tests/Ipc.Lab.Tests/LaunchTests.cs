using System.Diagnostics;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>One launch against peers that behave and peers that do not.</summary>
public sealed class LaunchTests : IDisposable
{
    private static readonly Cell s_pair = new("shm", "native:managed", "raw", "call", "1k-10k");
    private static readonly Cell s_alone = new(Cell.NoTransport, "native:native", "custom", "serialize", "1k-10k");

    private readonly TemporaryFolder _folder = new();
    private readonly string _name = $"lab-test-{Guid.NewGuid():N}"[..24];

    public void Dispose() => _folder.Dispose();

    private async Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(Cell cell, string mode, CancellationToken stop = default)
    {
        var hangs = mode is "silent" or "hang-server" or "hang-client";
        var launcher = new Launcher(Fakes.Programs(_folder, mode), hangs ? Fakes.ShortBounds : LaunchBounds.Usual);
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(cell.Workload, null), _name, 7, new Pins(0, 1), new LaunchTiming(0.01, 0.01), Path.Combine(_folder.Path, "launch.u32"));
        try
        {
            return await launcher.RunAsync(task, 0, 0, stop);
        }
        finally
        {
            AssertNothingIsLeft();
        }
    }

    private void AssertNothingIsLeft()
    {
        Assert.False(File.Exists(Path.Combine(_folder.Path, "launch.u32")));
        foreach (var id in Fakes.StartedPeers(_folder))
            Assert.False(Directory.Exists($"/proc/{id}") && !File.ReadAllText($"/proc/{id}/stat").Contains(") Z", StringComparison.Ordinal),
                $"peer {id} still runs");
    }

    private async Task<PeerFailure> FailureAsync(Cell cell, string mode) =>
        await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync(cell, mode));

    [Fact]
    public async Task PeersThatBehaveGiveARecordWithAllFigures()
    {
        var (record, samples) = await LaunchAsync(s_pair, "right");

        Assert.Equal(("ok", 10L, 20000L, 10000L, 110000L), (record.Status, record.Operations, record.ElapsedNs, record.TimedNs, record.Bytes));
        Assert.Equal((70000L, 10L), (record.ColdNs, record.ServerOperations));
        Assert.Equal((0L, 13000L), (record.Server!.Before!.CpuNs, record.Server.After!.CpuNs));
        Assert.Equal(50000L, record.Client!.After!.CpuNs);
        Assert.Equal(Enumerable.Repeat(1000u, 10), samples);
        Assert.Equal(2, Fakes.StartedPeers(_folder).Count);
    }

    [Fact]
    public async Task APeerAloneGivesItsPhases()
    {
        var (record, _) = await LaunchAsync(s_alone, "right");

        Assert.Equal(2.0, record.Phases!["encode_ns"]);
        Assert.Null(record.Phases["translate_ns"]);
        Assert.Single(Fakes.StartedPeers(_folder));
    }

    [Theory]
    [InlineData("dead-server", "ENDED_EARLY", "the server ended with exit code 7 before 'served'; its last words: out of luck")]
    [InlineData("speechless-server", "ENDED_EARLY", "the server ended with exit code 7 before 'served'")]
    [InlineData("dead-client", "ENDED_EARLY", "the client ended with exit code 7 before 'measured'; its last words: out of luck")]
    [InlineData("failed-server", "WRONG_CONTENT", "the server says: exchange 3 came twice")]
    [InlineData("failed-client", "WRONG_CONTENT", "the client says: exchange 3 came twice")]
    [InlineData("hang-server", "HUNG", "the server did not say 'ready' within 2 s and was killed")]
    [InlineData("hang-client", "HUNG", "the client did not say 'warm' within 4 s and was killed")]
    [InlineData("silent", "HUNG", "the server did not say 'ready' within 2 s and was killed")]
    [InlineData("garbage-client", "NOT_THE_PROTOCOL", "the client wrote 'Hello, world' to standard output, where one JSON event per line belongs")]
    [InlineData("endless-server", "NOT_THE_PROTOCOL", "the server cannot be understood: a line longer than 1048576 bytes")]
    [InlineData("few-samples", "WRONG_FIGURES", "the client says it measured 10 operations but wrote 1 samples")]
    [InlineData("too-fast", "WRONG_FIGURES", "the samples add up to 10000 ns, more than the 10 ns the client says it took")]
    [InlineData("lying-server", "WRONG_FIGURES", "the server served 2 exchanges, the client counts 3 in warm-up and 10 measured")]
    [InlineData("bad-exit", "ENDED_BADLY", "the client ended with exit code 3 after its work was done")]
    public async Task APeerThatMisbehavesFailsTheCellWithTheReason(string mode, string status, string reason)
    {
        var failure = await FailureAsync(s_pair, mode);

        Assert.Equal((status, reason), (failure.Status, failure.Reason));
    }

    [Fact]
    public async Task AClientThatClaimsMoreTimeThanPassedIsNotBelieved()
    {
        var failure = await FailureAsync(s_pair, "too-slow");

        Assert.Equal("WRONG_FIGURES", failure.Status);
        Assert.StartsWith("the client says it took 99000000000 ns, but only ", failure.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public async Task APeerAloneThatDiesFailsTheCell() => Assert.Equal("ENDED_EARLY", (await FailureAsync(s_alone, "dead-alone")).Status);

    [Fact]
    public async Task AProgramThatCannotStartFailsTheCell()
    {
        var notAProgram = _folder.Write("text", "nothing to run");
        var launcher = new Launcher(new Programs(null, _ => notAProgram), LaunchBounds.Usual);
        var task = new LaunchTask(
            s_alone, PeerWorkloads.Of("1k-10k", null), _name, 7, Pins.None, new LaunchTiming(0.01, 0.01), Path.Combine(_folder.Path, "launch.u32"));

        await Assert.ThrowsAsync<PeerFailure>(() => launcher.RunAsync(task, 0, 0, CancellationToken.None));
    }

    [Fact]
    public async Task WhatAPeerHasStartedEndsWithIt()
    {
        var (record, _) = await LaunchAsync(s_pair, "leaves-process").WaitAsync(TimeSpan.FromMinutes(1));

        Assert.Equal("ok", record.Status);
        Assert.Equal(3, Fakes.StartedPeers(_folder).Count);
    }

    // Nobody can tell whose it is any more; but it has the peer's streams, for whose end the lab must not wait.
    [Fact]
    public async Task WhatAPeerHasStartedInASessionOfItsOwnKeepsNobodyWaiting()
    {
        try
        {
            var (record, _) = await LaunchAsync(s_pair, "leaves-session").WaitAsync(TimeSpan.FromMinutes(1));

            Assert.Equal("ok", record.Status);
        }
        finally
        {
            var left = Path.Combine(_folder.Path, "peers.log.left");
            for (var clock = Stopwatch.StartNew(); !File.Exists(left) && clock.Elapsed.TotalSeconds < 10;)
                await Task.Delay(10);
            using var process = Process.GetProcessById(int.Parse(await File.ReadAllTextAsync(left), null));
            process.Kill();
        }
    }

    [Fact]
    public async Task AStopEndsAHangingLaunchAtOnce()
    {
        using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(0.3));
        var clock = Stopwatch.StartNew();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => LaunchAsync(s_pair, "hang-client", stop.Token));

        Assert.InRange(clock.Elapsed.TotalSeconds, 0.2, 3);
    }

    [Fact]
    public async Task NamesAKilledPeerLeftAreRemoved()
    {
        var name = Path.Combine(Path.GetTempPath(), $"CoreFxPipe_{_name}");
        await File.WriteAllTextAsync(name, "");

        await FailureAsync(s_pair, "hang-server");

        Assert.False(File.Exists(name));
    }
}
