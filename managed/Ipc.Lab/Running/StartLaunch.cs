using System.Diagnostics;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Running;

/// <summary>One launch of a scenario whose operation is starting both processes: how long each takes, from before it is there to what it says, by the
/// lab's clock.</summary>
/// <param name="cause">Why a launch failed, of the failure that showed and the processes that still run.</param>
/// <param name="remember">Keeps what a process says of itself.</param>
internal sealed class StartLaunch(
    LaunchTask task, Programs programs, LaunchBounds bounds, Func<PeerFailure, IReadOnlyList<Peer>, Task<PeerFailure>> cause, Action<string, Peer> remember,
    CancellationToken stop)
{
    // Enough for a median.
    private const int LeastStarts = 5;

    private readonly List<(uint Client, double Server, double Call, long Bytes)> _starts = [];

    public async Task<(LaunchRecord Record, uint[] Samples)> RunAsync(int cell, int round)
    {
        // The first of all reads its files from the disk.
        await StartAsync().ConfigureAwait(false);
        _starts.Clear();
        var clock = Stopwatch.StartNew();
        while (task.Cell.Count is { } count ? _starts.Count < count : _starts.Count < LeastStarts || clock.Elapsed.TotalSeconds < task.Timing.Seconds)
            await StartAsync().ConfigureAwait(false);
        var elapsed = clock.Elapsed.TotalNanoseconds;
        uint[] samples = [.. _starts.Select(s => s.Client)];
        var record = new LaunchRecord
        {
            Cell = cell,
            Round = round,
            Status = "ok",
            Timing = task.Timing,
            Operations = samples.Length,
            ElapsedNs = (long)elapsed,
            TimedNs = samples.Sum(s => (long)s),
            Bytes = _starts.Sum(s => s.Bytes),
            ColdNs = (long)Medians.Of(_starts.Select(s => s.Call))!.Value,
            Phases = new Dictionary<string, double?>
            {
                ["server_ready_ns"] = Medians.Of(_starts.Select(s => s.Server)),
                ["first_reply_ns"] = Medians.Of(_starts.Select(s => (double)s.Client))
            },
        };
        return (record, samples);
    }

    // The server listens before the client is started, so that neither waits for the other.
    private async Task StartAsync()
    {
        var begin = Stopwatch.GetTimestamp();
        await using var server = new Peer(programs.Peer(task.Cell.ServerSide), "server", "served");
        var address = await ReadyAsync(server).ConfigureAwait(false);
        var serverNs = Stopwatch.GetElapsedTime(begin).TotalNanoseconds;

        begin = Stopwatch.GetTimestamp();
        await using var client = new Peer(programs.Peer(task.Cell.ClientSide), "client", "measured");
        try
        {
            await client.SendAsync(task.ToPeerCell("client", task.Cell.ClientSide, task.Pins.Client, address)).ConfigureAwait(false);
            var measured = await PeerSession.WaitAsync(client, [server], bounds.Start, "measured", stop).ConfigureAwait(false);
            var clientNs = Stopwatch.GetElapsedTime(begin).TotalNanoseconds;
            var call = measured.As<Measured>(client.Who);
            Check(call, clientNs, await ServedAsync(server).ConfigureAwait(false));
            await client.EndAsync(bounds.Answer).ConfigureAwait(false);
            await server.EndAsync(bounds.Answer).ConfigureAwait(false);
            _starts.Add(((uint)Math.Min(clientNs, uint.MaxValue), serverNs, call.ElapsedNs, call.Bytes));
        }
        catch (PeerFailure failure)
        {
            throw await cause(failure, [server, client]).ConfigureAwait(false);
        }
        finally
        {
            remember(task.Cell.ServerSide, server);
            remember(task.Cell.ClientSide, client);
        }
    }

    private async Task<string> ReadyAsync(Peer server)
    {
        var asked = TransportSpec.ToAddress(task.Cell.Transport, task.Name);
        await server.SendAsync(task.ToPeerCell("server", task.Cell.ServerSide, task.Pins.Server, asked)).ConfigureAwait(false);
        var ready = await server.ExpectAsync(bounds.Start, stop, "ready").ConfigureAwait(false);
        return PeerSession.CheckAddress(ready, asked, task.Cell.TransportId);
    }

    private async Task<long> ServedAsync(Peer server) =>
        (await server.ExpectAsync(bounds.Answer, stop, "served").ConfigureAwait(false)).Numbers().GetValueOrDefault("operations") is { } n ? (long)n : 0;

    private static void Check(Measured call, double clientNs, long served)
    {
        if (call.Operations != 1 || served != 1)
            throw new PeerFailure("WRONG_FIGURES", $"one call was asked for; the client says it made {call.Operations}, the server that it served {served}");
        if (call.ElapsedNs <= 0 || call.ElapsedNs > clientNs)
            throw new PeerFailure("WRONG_FIGURES", $"the client says that its call took {call.ElapsedNs} ns, of {clientNs:0} ns since it was started");
    }
}
