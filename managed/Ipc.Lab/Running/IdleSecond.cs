using System.Diagnostics;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Running;

/// <summary>A second in which nobody calls: the server waits for a request in the way its address says, the client for a word of the runner's.</summary>
internal static class IdleSecond
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);
    // An adaptive server is still awake right after a call.
    private static readonly TimeSpan s_untilItSleeps = TimeSpan.FromMilliseconds(50);

    /// <summary>Processor time by side, nanoseconds a second: <c>idle_server_cpu_ns</c>, <c>idle_client_cpu_ns</c>.</summary>
    public static async Task<Dictionary<string, double?>> ReadAsync(Peer server, Peer client, CancellationToken stop)
    {
        await Task.Delay(s_untilItSleeps, stop).ConfigureAwait(false);
        var clock = Stopwatch.StartNew();
        var (serverBefore, clientBefore) = (ProcessorTime.Of(server.ProcessId), ProcessorTime.Of(client.ProcessId));
        await Task.Delay(s_second, stop).ConfigureAwait(false);
        var (serverAfter, clientAfter) = (ProcessorTime.Of(server.ProcessId), ProcessorTime.Of(client.ProcessId));
        var seconds = clock.Elapsed.TotalSeconds;
        return new Dictionary<string, double?>
        {
            ["idle_server_cpu_ns"] = (serverAfter - serverBefore) / seconds,
            ["idle_client_cpu_ns"] = (clientAfter - clientBefore) / seconds,
        };
    }
}
