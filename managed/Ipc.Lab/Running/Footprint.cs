using Ipc.Lab.Machine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Running;

/// <summary>The memory of a launch's processes at three moments, and of many processes of the server's kind, read from outside.</summary>
internal sealed class Footprint(LaunchTask task, Programs programs, LaunchBounds bounds, CancellationToken stop)
{
    /// <summary>How many small processes are started beside.</summary>
    public const int Many = 10;

    private static readonly TimeSpan s_betweenLooks = TimeSpan.FromMilliseconds(50);
    private const int MostLooks = 40;
    private const double Still = 1.01;

    /// <summary>Bytes by moment, side and kind, e.g. <c>idle_server_private_bytes</c>.</summary>
    public Dictionary<string, double?> Bytes { get; } = [];

    /// <summary>Notes both processes when they have come to rest.</summary>
    public async Task NoteAsync(string moment, Peer server, Peer client)
    {
        Note($"{moment}_server", await AtRestAsync(server).ConfigureAwait(false));
        Note($"{moment}_client", await AtRestAsync(client).ConfigureAwait(false));
    }

    /// <summary>Notes both in the middle of the time that they are measured for.</summary>
    public async Task NoteMeanwhileAsync(string moment, Peer server, Peer client)
    {
        await Task.Delay(TimeSpan.FromSeconds(task.Timing.Seconds / 2), stop).ConfigureAwait(false);
        Note($"{moment}_server", ProcessMemory.Of(server.ProcessId));
        Note($"{moment}_client", ProcessMemory.Of(client.ProcessId));
    }

    /// <summary>Starts many servers, each with a name of its own and nobody connected, and notes what they hold together.</summary>
    public async Task NoteManyAsync()
    {
        var peers = new List<Peer>();
        try
        {
            for (var i = 0; i < Many; i++)
            {
                var peer = new Peer(programs.Peer(task.Cell.ServerSide), "one of many servers", "served");
                peers.Add(peer);
                await peer.SendAsync(task.ToPeerCell("server", task.Cell.ServerSide, task.Pins.Server,
                    TransportSpec.ToAddress(task.Cell.Transport, $"{task.Name}-{i}"))).ConfigureAwait(false);
            }
            foreach (var peer in peers)
                await peer.ExpectAsync(bounds.Start, stop, "ready").ConfigureAwait(false);
            ProcessMemory? together = new(0, 0);
            foreach (var peer in peers)
                together = await AtRestAsync(peer).ConfigureAwait(false) is { } one && together is not null ? together + one : null;
            Note("ten_servers", together);
        }
        finally
        {
            // What they leave is named after the launch and goes with it.
            await Task.WhenAll(peers.Select(p => p.DisposeAsync().AsTask())).ConfigureAwait(false);
        }
    }

    private void Note(string what, ProcessMemory? memory) =>
        (Bytes[$"{what}_proportional_bytes"], Bytes[$"{what}_private_bytes"]) = (memory?.Proportional, memory?.Private);

    // A runtime that is still starting grows.
    private async Task<ProcessMemory?> AtRestAsync(Peer peer)
    {
        var last = ProcessMemory.Of(peer.ProcessId);
        for (var look = 1; look < MostLooks && last is not null; look++)
        {
            await Task.Delay(s_betweenLooks, stop).ConfigureAwait(false);
            var now = ProcessMemory.Of(peer.ProcessId);
            if (now is null || now.Private <= last.Private * Still)
                return now;
            last = now;
        }
        return last;
    }
}
