using System.Diagnostics;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Running;

/// <summary>One launch of a one-way scenario: one server, one or more clients; those that send are told to go, those that receive measure
/// (docs/peer-protocol.md, "One-way messages").</summary>
internal sealed class OneWayLaunch : IAsyncDisposable
{
    private readonly LaunchTask _task;
    private readonly LaunchBounds _bounds;
    private readonly ScenarioEntry _scenario;
    private readonly Programs _programs;
    private readonly List<Peer> _clients = [];

    /// <summary>Starts the server; the clients start with <see cref="RunAsync"/>, so that this object has every process, also when one of them does not
    /// start.</summary>
    public OneWayLaunch(LaunchTask task, Programs programs, LaunchBounds bounds)
    {
        (_task, _programs, _bounds, _scenario) = (task, programs, bounds, Choices.ScenarioEntry(task.Cell.Scenario));
        Server = new Peer(programs.Peer(task.Cell.ServerSide), "server", ServerReceives ? "served" : "measured");
    }

    public Peer Server { get; }
    public IReadOnlyList<Peer> Clients => _clients;
    public IReadOnlyList<Peer> All => [Server, .. Clients];

    // Killed because the scenario says so.
    private Peer? Dead { get; set; }

    private bool ServerReceives => _scenario.Receiver == "server";
    private IReadOnlyList<Peer> Senders => ServerReceives ? Clients : [Server];
    private IReadOnlyList<Peer> Receivers => ServerReceives ? [Server] : [.. Clients.Where(IsAlive)];

    /// <summary>Leads the peers through both stretches and holds what they counted against each other.</summary>
    public async Task<(LaunchRecord Record, uint[] Samples)> RunAsync(int cell, int round, CancellationToken stop)
    {
        StartClients();
        await BeginAsync(stop).ConfigureAwait(false);
        var warm = await ExpectAsync<Warm>(Senders, _bounds.Start + TimeSpan.FromSeconds(_task.Timing.WarmupSeconds), "warm", stop).ConfigureAwait(false);
        var warmedUp = await ExpectAsync<Received>(Receivers, _bounds.Answer, "received", stop).ConfigureAwait(false);
        OneWayClaims.CheckArrived("warm-up", [.. warm.Select(w => w.Operations)], warmedUp);

        var clock = Stopwatch.StartNew();
        foreach (var sender in Senders)
            await sender.SendAsync(PeerCommand.Go).ConfigureAwait(false);
        if (_scenario.KillsLastClient)
            await KillTheLastAsync(stop).ConfigureAwait(false);
        var sent = await ExpectAsync<Measured>(Senders, _bounds.ForMeasuring(_task.Timing.Seconds, _task.Cell.Count), "measured", stop).ConfigureAwait(false);
        // Whoever has sent may be far ahead of a slow receiver, whose queue is still full.
        var received = await ExpectAsync<Received>(Receivers, _bounds.Measure, "received", stop).ConfigureAwait(false);
        var wall = clock.Elapsed;
        OneWayClaims.CheckArrived("measurement", [.. sent.Select(m => m.Operations)], received);
        await EndAsync(stop).ConfigureAwait(false);

        var timed = received[..(_scenario.TimesAllButTheLast ? Clients.Count - 1 : received.Length)];
        var samples = ReadSamples(timed);
        OneWayClaims.Check(sent, received, wall, samples, _task.Cell.Count * _scenario.Threads);
        return (ToRecord(cell, round, warm, sent, timed, samples) with { Lost = received.Sum(r => r.Lost) }, samples);
    }

    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(All.Select(p => p.DisposeAsync().AsTask())).ConfigureAwait(false);
        for (var i = 0; i < Clients.Count; i++)
            File.Delete(_task.SamplesOf(i));
    }

    // All at once, and beside the server: one's runtime starts while another listens.
    private void StartClients()
    {
        for (var i = 0; i < _scenario.Clients; i++)
        {
            var who = _scenario.Clients == 1 ? "client" : $"client {i + 1}";
            _clients.Add(new Peer(_programs.Peer(_task.Cell.ClientSide), who, ServerReceives ? "measured" : "received"));
        }
    }

    private async Task BeginAsync(CancellationToken stop)
    {
        var asked = TransportSpec.ToAddress(_task.Cell.Transport, _task.Name);
        await Server.SendAsync(_task.ToOneWayServer(_scenario, asked)).ConfigureAwait(false);
        var ready = await PeerSession.WaitAsync(Server, Clients, _bounds.Start, "ready", stop).ConfigureAwait(false);
        var address = PeerSession.CheckAddress(ready, asked, _task.Cell.TransportId);
        for (var i = 0; i < Clients.Count; i++)
            await Clients[i].SendAsync(_task.ToOneWayClient(_scenario, address, i)).ConfigureAwait(false);
    }

    private bool IsAlive(Peer peer) => peer != Dead;

    // While messages come, or soon after the first where a number of them is asked for.
    private async Task KillTheLastAsync(CancellationToken stop)
    {
        var half = _task.Cell.Count is null ? TimeSpan.FromSeconds(_task.Timing.Seconds / 2) : TimeSpan.FromMilliseconds(1);
        await Task.Delay(half, stop).ConfigureAwait(false);
        Dead = Clients[^1];
        await Dead.KillAsync(_bounds.Answer).ConfigureAwait(false);
    }

    private async Task<T[]> ExpectAsync<T>(IReadOnlyList<Peer> peers, TimeSpan bound, string name, CancellationToken stop)
    {
        var answers = new List<T>();
        foreach (var peer in peers)
        {
            var answer = await PeerSession.WaitAsync(peer, [.. All.Where(p => p != peer && IsAlive(p))], bound, name, stop).ConfigureAwait(false);
            answers.Add(answer.As<T>(peer.Who));
        }
        return [.. answers];
    }

    private async Task EndAsync(CancellationToken stop)
    {
        if (ServerReceives)
            await Server.ExpectAsync(_bounds.Answer, stop, "served").ConfigureAwait(false);
        foreach (var client in Clients.Where(IsAlive))
            await client.EndAsync(_bounds.Answer).ConfigureAwait(false);
        await Server.EndAsync(_bounds.Answer).ConfigureAwait(false);
    }

    private uint[] ReadSamples(Received[] received)
    {
        if (ServerReceives)
            return SampleFile.ReadRaw(_task.Samples);
        var ofClients = Enumerable.Range(0, received.Length).Select(i => SampleFile.ReadRaw(_task.SamplesOf(i))).ToList();
        return _scenario.Last ? OneWayClaims.UntilTheLast(received, ofClients) : [.. ofClients.SelectMany(s => s)];
    }

    // By the clients' own clocks; with one of them nobody is kept waiting by another.
    private static double? SlowestByFastest(Measured[] sent)
    {
        var rates = sent.Where(m => m.ElapsedNs > 0).Select(m => m.Operations / (double)m.ElapsedNs).ToList();
        return rates.Count > 1 ? rates.Min() / rates.Max() : sent[0].SlowestByFastest;
    }

    private LaunchRecord ToRecord(int cell, int round, Warm[] warm, Measured[] sent, Received[] received, uint[] samples)
    {
        var senders = UsageSpan.Sum(sent.Select(m => new UsageSpan(m.UsageBefore, m.UsageAfter)));
        var receivers = UsageSpan.Sum(received.Select(r => new UsageSpan(r.UsageBefore, r.UsageAfter)));
        var record = new LaunchRecord
        {
            Cell = cell,
            Round = round,
            Status = "ok",
            Timing = _task.Timing,
            Operations = received.Sum(r => r.Operations),
            ElapsedNs = received.Max(r => r.ElapsedNs),
            // Receivers of a broadcast each have the whole time for the whole of the messages: the rate is that of one.
            TimedNs = received.Sum(r => r.ElapsedNs),
            Bytes = received.Sum(r => r.Bytes),
            ColdNs = warm.Max(w => w.ColdNs),
            SlowestByFastest = ServerReceives ? SlowestByFastest(sent) : null,
            Server = ServerReceives ? receivers : senders,
            Client = ServerReceives ? senders : receivers,
            ServerOperations = ServerReceives ? received.Sum(r => r.Operations) : sent.Sum(m => m.Operations),
        };
        // One operation is a message with all its receivers.
        return !_scenario.Last ? record : record with
        {
            Operations = samples.Length,
            TimedNs = samples.Sum(s => (long)s),
            Bytes = record.Bytes / Clients.Count,
        };
    }
}
