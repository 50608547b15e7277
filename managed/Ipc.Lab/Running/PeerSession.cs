using System.Diagnostics;

namespace Ipc.Lab.Running;

/// <summary>A server whose runtime is still.</summary>
/// <param name="Warm">What the client said last.</param>
/// <param name="Before">What the server had used when the client had made so many operations.</param>
/// <param name="Compiled">Methods compiled so far; null where the server does not tell.</param>
/// <param name="Unsettled">Why it is not still, or null.</param>
internal sealed record SettledServer(Warm Warm, Usage Before, long Operations, long? Compiled, string? Unsettled);

/// <summary>Leads a server and a client from start to end; either one's failure ends every wait.</summary>
internal sealed class PeerSession(Peer server, Peer client, LaunchBounds bounds, CancellationToken stop)
{
    // As long as a managed client waits (docs/measurement.md, "Warm-up"): where a server spins, its compiler shares the processor with it and pauses
    // between methods.
    private static readonly TimeSpan s_quiet = TimeSpan.FromMilliseconds(100);
    // The runtime waits 10 ms for the last new method, and has compiled after 20; twice that.
    private static readonly TimeSpan s_afterAnswer = TimeSpan.FromMilliseconds(40);

    /// <summary>Tells the server its cell; the address at which it listens.</summary>
    public async Task<string> ReadyAsync(LaunchTask task)
    {
        var asked = Planning.TransportSpec.ToAddress(task.Cell.Transport, task.Name);
        await server.SendAsync(task.ToPeerCell("server", task.Cell.ServerSide, task.Pins.Server, asked)).ConfigureAwait(false);
        var ready = await WaitAsync(server, client, bounds.Start, "ready").ConfigureAwait(false);
        return CheckAddress(ready, asked, task.Cell.TransportId);
    }

    /// <summary>The address of a `ready`, which must be of the transport asked for.</summary>
    public static string CheckAddress(PeerEvent ready, string asked, string transport)
    {
        var address = ready.Text("address") ?? "";
        return address.StartsWith(transport + "://", StringComparison.Ordinal)
            ? address
            : throw new PeerFailure("NOT_THE_PROTOCOL", $"the server was to listen at '{asked}' and says it listens at '{address}'");
    }

    /// <summary>Tells the client its cell and waits until it is warm.</summary>
    public async Task<Warm> WarmAsync(LaunchTask task, string address)
    {
        await client.SendAsync(task.ToPeerCell("client", task.Cell.ClientSide, task.Pins.Client, address)).ConfigureAwait(false);
        var warm = await WaitAsync(client, server, WarmBound(task), "warm").ConfigureAwait(false);
        return warm.As<Warm>(client.Who);
    }

    /// <summary>Has a client that can go on with calls until the server's runtime has compiled for the last time, and no longer than a warm-up may
    /// take.</summary>
    public async Task<SettledServer> SettleServerAsync(LaunchTask task, Warm warm)
    {
        var first = await server.UsageAsync(bounds.Answer, stop).ConfigureAwait(false);
        if (first.CompiledMethods is null)
            return new SettledServer(warm, first, warm.Operations, null, null);
        (warm, _, var unsettled) = await UntilStillAsync(task, warm, s_quiet).ConfigureAwait(false);
        var before = await server.UsageAsync(bounds.Answer, stop).ConfigureAwait(false);
        var operations = warm.Operations;
        // Answering is work for the runtime, too: it compiles some methods of it for the last time a moment later, which is not to be during the measurement.
        (warm, var compiled, var still) = await UntilStillAsync(task, warm, s_afterAnswer).ConfigureAwait(false);
        return new SettledServer(warm, before, operations, compiled, unsettled ?? still);
    }

    private async Task<(Warm Warm, long? Compiled, string? Unsettled)> UntilStillAsync(LaunchTask task, Warm warm, TimeSpan least)
    {
        var (clock, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        var compiled = await CompiledAsync().ConfigureAwait(false);
        while (warm.Again)
        {
            await client.SendAsync(PeerCommand.Warm).ConfigureAwait(false);
            warm = (await WaitAsync(client, server, WarmBound(task), "warm").ConfigureAwait(false)).As<Warm>(client.Who);
            var now = await CompiledAsync().ConfigureAwait(false);
            // A method or two are of the thread that answers.
            if (now - compiled <= 2 && still.Elapsed >= least)
                return (warm, now, null);
            if (now - compiled > 2)
            {
                compiled = now;
                still.Restart();
            }
            if (clock.Elapsed.TotalSeconds > task.Timing.SettleSeconds)
                return (warm, now, $"the server had not settled when the warm-up ended: its runtime was still compiling, with {now} methods compiled");
        }
        return (warm, compiled, null);
    }

    /// <summary>How many methods the server's runtime has compiled so far.</summary>
    public async Task<long?> CompiledAsync() => (await server.RuntimeAsync(bounds.Answer, stop).ConfigureAwait(false)).CompiledMethods;

    private TimeSpan WarmBound(LaunchTask task) => bounds.Start + TimeSpan.FromSeconds(task.Timing.WarmupSeconds + task.Timing.SettleSeconds);

    /// <summary>Lets the client measure; its claim, and the time that passed here meanwhile.</summary>
    public async Task<(Measured Measured, TimeSpan Wall)> MeasureAsync(LaunchTask task)
    {
        var clock = Stopwatch.StartNew();
        await client.SendAsync(PeerCommand.Go).ConfigureAwait(false);
        var measured = await WaitAsync(client, server, bounds.ForMeasuring(task.Timing.Seconds, task.Cell.Count), "measured").ConfigureAwait(false);
        return (measured.As<Measured>(client.Who), clock.Elapsed);
    }

    /// <summary>Waits for the server's word that every exchange was right; the number of exchanges it served.</summary>
    public async Task<long> ServedAsync()
    {
        var served = await server.ExpectAsync(bounds.Answer, stop, "served").ConfigureAwait(false);
        return served.Body.TryGetProperty("operations", out var n) && n.TryGetInt64(out var operations) ? operations : 0;
    }

    private Task<PeerEvent> WaitAsync(Peer peer, Peer other, TimeSpan bound, string name) => WaitAsync(peer, [other], bound, name, stop);

    /// <summary>Waits for one peer's event as long as none of the others fails.</summary>
    public static async Task<PeerEvent> WaitAsync(Peer peer, IReadOnlyList<Peer> others, TimeSpan bound, string name, CancellationToken stop)
    {
        var expected = peer.ExpectAsync(bound, stop, name);
        // ExpectAsync ends by itself when its own peer fails; only the others' failures must be looked for.
        var failure = Task.WhenAny(others.Select(p => p.Failure));
        if (await Task.WhenAny(expected, failure).ConfigureAwait(false) == expected || expected.IsCompleted)
            return await expected.ConfigureAwait(false);
        _ = expected.ContinueWith(static t => t.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
        throw await (await failure.ConfigureAwait(false)).ConfigureAwait(false);
    }
}
