using System.Diagnostics;

namespace Ipc.Lab.Running;

/// <summary>Leads a server and a client from start to end; either one's failure ends every wait.</summary>
internal sealed class Conversation(Peer server, Peer client, LaunchBounds bounds, CancellationToken stop)
{
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

    /// <summary>Has a client that can go on with calls until the server's runtime has compiled for the last time, and no longer than a warm-up may take.</summary>
    /// <returns>What the client said last, what the server had used and compiled then (null where it does not tell), and why it has not settled, or null.</returns>
    public async Task<(Warm Warm, Usage Before, long? Compiled, string? Unsettled)> SettleServerAsync(LaunchTask task, Warm warm)
    {
        var clock = Stopwatch.StartNew();
        string? unsettled = null;
        var before = await server.UsageAsync(bounds.Answer, stop).ConfigureAwait(false);
        if (before.CompiledMethods is null)
            return (warm, before, null, null);
        for (long? last = null; warm.Again;)
        {
            await client.SendAsync(PeerCommand.Warm).ConfigureAwait(false);
            warm = (await WaitAsync(client, server, WarmBound(task), "warm").ConfigureAwait(false)).As<Warm>(client.Who);
            var compiled = await CompiledAsync().ConfigureAwait(false);
            // A method or two are of the thread that answers.
            if (compiled - last <= 2)
                break;
            last = compiled;
            if (clock.Elapsed.TotalSeconds > task.Timing.SettleSeconds)
            {
                unsettled = $"the server had not settled when the warm-up ended: its runtime was still compiling, with {compiled} methods compiled";
                break;
            }
        }
        before = await server.UsageAsync(bounds.Answer, stop).ConfigureAwait(false);
        return (warm, before, await CompiledAsync().ConfigureAwait(false), unsettled);
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
