using System.Diagnostics;
using Ipc.Lab.Machine;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Running;

/// <summary>Runs launches: starts the peers of a cell, leads them through docs/peer-protocol.md and checks what they claim.</summary>
internal sealed class Launcher(Programs programs, LaunchBounds bounds)
{
    // How long the other side's failure may take to arrive: it usually tells the cause.
    private static readonly TimeSpan s_graceForCause = TimeSpan.FromSeconds(0.3);
    // A failure that must have a cause at the other end waits longer for it: a runtime's first exception takes 0.3 s by itself on a busy machine.
    private static readonly TimeSpan s_graceForItsCause = TimeSpan.FromSeconds(2);

    private readonly Dictionary<string, PeerEnvironment> _environments = [];

    /// <summary>What the peers said of themselves so far, by side.</summary>
    public IReadOnlyDictionary<string, PeerEnvironment> Environments => _environments;

    /// <summary>Runs one launch. Throws <see cref="PeerFailure"/> if the cell fails, <see cref="OperationCanceledException"/> when asked to
    /// stop; either way no process and no name of the launch is left. The samples are at <see cref="LaunchTask.Samples"/>.</summary>
    public async Task<(LaunchRecord Record, uint[] Samples)> RunAsync(LaunchTask task, int cell, int round, CancellationToken stop)
    {
        LeftoverNames.Expect(task.Name);
        try
        {
            return task.Cell.IsAlone ? await RunAloneAsync(task, cell, round, stop).ConfigureAwait(false)
                : task.Cell.Scene.Starts ? await new StartLaunch(task, programs, bounds, CauseAsync, Remember, stop).RunAsync(cell, round).ConfigureAwait(false)
                : Choices.ScenarioEntry(task.Cell.Scenario).Receiver is not null ? await RunOneWayAsync(task, cell, round, stop).ConfigureAwait(false)
                : await RunPairAsync(task, cell, round, stop).ConfigureAwait(false);
        }
        finally
        {
            LeftoverNames.Remove(task.Name);
            File.Delete(task.Samples);
        }
    }

    private async Task<(LaunchRecord, uint[])> RunPairAsync(LaunchTask task, int cell, int round, CancellationToken stop)
    {
        // Both are started at once: one's runtime starts while the other listens.
        await using var server = new Peer(programs.Peer(task.Cell.ServerSide), "server", "served");
        await using var client = new Peer(programs.Peer(task.Cell.ClientSide), "client", "measured");
        try
        {
            var session = new PeerSession(server, client, bounds, stop);
            var footprint = task.Cell.Scene.Footprint ? new Footprint(task, programs, bounds, stop) : null;
            var address = await session.ReadyAsync(task).ConfigureAwait(false);
            if (footprint is not null)
                await footprint.NoteAsync("idle", server, client).ConfigureAwait(false);
            var warm = await session.WarmAsync(task, address).ConfigureAwait(false);
            if (footprint is not null)
                await footprint.NoteAsync("connected", server, client).ConfigureAwait(false);
            var settled = await session.SettleServerAsync(task, warm).ConfigureAwait(false);
            var idle = task.Cell.Scene.Idle ? await IdleSecond.ReadAsync(server, client, stop).ConfigureAwait(false) : null;
            var meanwhile = footprint?.NoteMeanwhileAsync("loaded", server, client) ?? Task.CompletedTask;
            var (measured, wall) = await session.MeasureAsync(task).ConfigureAwait(false);
            await meanwhile.ConfigureAwait(false);
            var compiledMeanwhile = settled.Compiled is null ? null : await session.CompiledAsync().ConfigureAwait(false) - settled.Compiled;
            var after = await server.UsageAsync(bounds.Answer, stop).ConfigureAwait(false);
            var served = await session.ServedAsync().ConfigureAwait(false);
            await client.EndAsync(bounds.Answer).ConfigureAwait(false);
            await server.EndAsync(bounds.Answer).ConfigureAwait(false);
            if (footprint is not null)
                await footprint.NoteManyAsync().ConfigureAwait(false);
            var samples = SampleFile.ReadRaw(task.Samples);
            Claims.Check(measured, wall, samples, task.Cell.Count, task.Cell.Overlaps);
            Claims.CheckServed(served, settled.Warm, measured);
            var around = new UsageSpan(settled.Before, after);
            var unsteady = Steadiness.WhyBehind(task.Cell.Load.Rate, measured, samples)
                ?? Steadiness.WhyUnsteady(WarmAsMeasured(settled.Warm, task.Cell), settled.Unsettled, compiledMeanwhile, measured, samples);
            return (ToRecord(task, cell, round, measured, samples) with
            {
                Status = unsteady is null ? "ok" : "unsteady",
                Reason = unsteady,
                ColdNs = settled.Warm.ColdNs,
                Server = around,
                ServerOperations = (served - settled.Operations) * task.Cell.Load.Bucket,
                Phases = footprint?.Bytes ?? idle,
            }, samples);
        }
        catch (PeerFailure failure)
        {
            throw await CauseAsync(failure, [server, client]).ConfigureAwait(false);
        }
        finally
        {
            Remember(task.Cell.ServerSide, server);
            Remember(task.Cell.ClientSide, client);
        }
    }

    private async Task<(LaunchRecord, uint[])> RunOneWayAsync(LaunchTask task, int cell, int round, CancellationToken stop)
    {
        await using var launch = new OneWayLaunch(task, programs, bounds);
        try
        {
            return await launch.RunAsync(cell, round, stop).ConfigureAwait(false);
        }
        catch (PeerFailure failure)
        {
            throw await CauseAsync(failure, launch.All).ConfigureAwait(false);
        }
        finally
        {
            Remember(task.Cell.ServerSide, launch.Server);
            Remember(task.Cell.ClientSide, launch.Clients is [var client, ..] ? client : null);
        }
    }

    private async Task<(LaunchRecord, uint[])> RunAloneAsync(LaunchTask task, int cell, int round, CancellationToken stop)
    {
        var side = task.Cell.ClientSide;
        await using var peer = new Peer(programs.Peer(side), "process", "measured");
        try
        {
            var clock = Stopwatch.StartNew();
            await peer.SendAsync(task.ToPeerCell("alone", side, task.Pins.Client, "")).ConfigureAwait(false);
            var bound = bounds.Start + TimeSpan.FromSeconds(task.Timing.WarmupSeconds + task.Timing.SettleSeconds)
                + bounds.ForMeasuring(task.Timing.Seconds, task.Cell.Count);
            var warm = (await peer.ExpectAsync(bound, stop, "warm").ConfigureAwait(false)).As<Warm>(peer.Who);
            var phases = (await peer.ExpectAsync(bound, stop, "phases").ConfigureAwait(false)).Numbers();
            var measured = (await peer.ExpectAsync(bounds.Answer, stop, "measured").ConfigureAwait(false)).As<Measured>(peer.Who);
            var wall = clock.Elapsed;
            await peer.EndAsync(bounds.Answer).ConfigureAwait(false);
            var samples = SampleFile.ReadRaw(task.Samples);
            Claims.Check(measured, wall, samples, task.Cell.Count);
            var unsteady = Steadiness.WhyUnsteady(warm, null, null, measured, samples);
            return (ToRecord(task, cell, round, measured, samples) with { Status = unsteady is null ? "ok" : "unsteady", Reason = unsteady, Phases = phases },
                samples);
        }
        finally
        {
            Remember(side, peer);
        }
    }

    // A warm-up does not keep to a rate: a call after a pause takes longer, and is meant to.
    private static Warm WarmAsMeasured(Warm warm, Cell cell) => cell.Load.Rate > 0 ? warm with { P50Ns = null } : warm;

    private static LaunchRecord ToRecord(LaunchTask task, int cell, int round, Measured measured, uint[] samples) => new()
    {
        Cell = cell,
        Round = round,
        Status = "ok",
        Timing = task.Timing,
        Operations = measured.Operations * task.Cell.Load.Bucket,
        ElapsedNs = measured.ElapsedNs,
        TimedNs = samples.Sum(s => (long)s),
        Bytes = measured.Bytes,
        Client = new UsageSpan(measured.UsageBefore, measured.UsageAfter),
    };

    // A client that lost its server, or the reverse, only tells that; another peer may be about to tell why.
    private static async Task<PeerFailure> CauseAsync(PeerFailure first, IReadOnlyList<Peer> peers)
    {
        await Task.WhenAny(Task.WhenAll(peers.Select(p => p.Failure)), Task.Delay(first.IsConsequence ? s_graceForItsCause : s_graceForCause))
            .ConfigureAwait(false);
        var all = new List<PeerFailure> { first };
        foreach (var peer in peers)
        {
            if (peer.Failure.IsCompletedSuccessfully)
                all.Add(await peer.Failure.ConfigureAwait(false));
        }
        return all.FirstOrDefault(f => !f.IsConsequence) ?? first;
    }

    private void Remember(string side, Peer? peer)
    {
        if (peer?.Environment is { } environment)
            _environments.TryAdd(side, environment);
    }
}
