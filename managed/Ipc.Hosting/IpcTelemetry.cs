using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Ipc.Hosting;

/// <summary>Metrics and traces of hosted servers. Nothing is measured while nobody listens.</summary>
public static class IpcTelemetry
{
    /// <summary>The name of the meter and of the activity source, for <c>AddMeter(IpcTelemetry.Name)</c> and
    /// <c>AddSource(IpcTelemetry.Name)</c>.</summary>
    public const string Name = "Ipc.Hosting";

    private static readonly Meter s_meter = new(Name);
    private static readonly ActivitySource s_source = new(Name);
    private static readonly Histogram<double> s_duration =
        s_meter.CreateHistogram<double>("ipc.server.request.duration", "s",
            "From a request's arrival at the handler to its answer; error.type names the exception of one that failed.");
    private static readonly UpDownCounter<long> s_clients = s_meter.CreateUpDownCounter<long>("ipc.server.active_clients", "{client}", "Clients connected.");

    /// <summary>Whether anybody has asked for the duration of requests or for traces.</summary>
    internal static bool IsListenedTo => s_duration.Enabled || s_source.HasListeners();

    internal static void ClientConnected(string server) => s_clients.Add(1, new KeyValuePair<string, object?>("ipc.server", server));
    internal static void ClientLeft(string server) => s_clients.Add(-1, new KeyValuePair<string, object?>("ipc.server", server));

    internal static long Begin() => s_duration.Enabled ? Stopwatch.GetTimestamp() : 0;

    internal static Activity? StartServing(string server, int bytes)
    {
        if (!s_source.HasListeners())
            return null;
        var activity = s_source.StartActivity("ipc.serve", ActivityKind.Server);
        activity?.SetTag("ipc.server", server);
        activity?.SetTag("ipc.request.bytes", bytes);
        return activity;
    }

    internal static void Served(string server, long start, string? failure)
    {
        if (start == 0)
            return;
        var tags = new TagList { { "ipc.server", server } };
        if (failure is not null)
            tags.Add("error.type", failure);
        s_duration.Record(Stopwatch.GetElapsedTime(start).TotalSeconds, tags);
    }
}
