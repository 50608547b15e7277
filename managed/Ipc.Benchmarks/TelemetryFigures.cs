using System.Buffers;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using Ipc.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Ipc.Benchmarks;

/// <summary>What docs/dotnet.md says of metrics and logging: a hosted server that nobody listens to against one without either, and with a listener.
/// Both ends are in this process and spin, so that nanoseconds can be seen.</summary>
internal static class TelemetryFigures
{
    private const int Rounds = 15, WarmUp = 30_000, Calls = 100_000;

    public static async Task<int> Run()
    {
        Console.WriteLine($"{Environment.ProcessorCount} processors, .NET {Environment.Version}, {Environment.OSVersion.VersionString}");
        Console.WriteLine($"calls of 32 bytes over shm?wait=spin, nanoseconds: {Rounds} rounds of {Calls} in turns, the middle one, the quartiles, the lowest");
        (string Name, Func<string, Task<double>> Measure)[] kinds =
            [("ServeAsync alone", ServeAlone), ("hosted, nobody listens", address => ServeHosted(address, false)),
                ("hosted, a meter's listener", address => ServeHosted(address, true))];
        var times = kinds.Select(_ => new List<double>()).ToArray();
        for (var round = -1; round < Rounds; round++)
        {
            for (var i = 0; i < kinds.Length; i++)
            {
                // Each goes first as often as the others.
                var kind = (i + round + 1) % kinds.Length;
                var taken = await kinds[kind].Measure($"shm://telemetry-{Guid.NewGuid():N}?wait=spin");
                if (round >= 0)
                    times[kind].Add(taken);
            }
        }
        foreach (var ((name, _), taken) in kinds.Zip(times))
        {
            taken.Sort();
            Console.WriteLine($"{name,-28} {taken[Rounds / 2]:0.0} ({taken[Rounds / 4]:0.0} to {taken[Rounds * 3 / 4]:0.0}), {taken[0]:0.0}");
        }
        return 0;
    }

    private static ValueTask Echo(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        reply.Write(request.Span);
        return default;
    }

    private static async Task<double> ServeAlone(string address)
    {
        using var listener = ManagedIpc.Listen(address);
        var accepting = listener.AcceptAsync();
        var client = ManagedIpc.Connect(address, 10_000);
        using var server = await accepting;
        var serving = Task.Run(() => server.ServeAsync(Echo));
        var taken = Call(client);
        await serving;
        return taken;
    }

    private static async Task<double> ServeHosted(string address, bool listened)
    {
        using var meters = new MeterListener();
        if (listened)
        {
            meters.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == IpcTelemetry.Name)
                    listener.EnableMeasurementEvents(instrument);
            };
            meters.SetMeasurementEventCallback<double>(static (_, _, _, _) => { });
            meters.Start();
        }
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddIpcServer("echo", _ => Echo).Configure(options => options.Address = address);
        using var host = builder.Build();
        await host.StartAsync();
        var taken = Call(ManagedIpc.Connect(address, 10_000));
        await host.StopAsync();
        return taken;
    }

    // Nanoseconds a call.
    private static double Call(IpcChannel client)
    {
        using (client)
        {
            var (message, reply) = (new byte[32], new byte[32]);
            for (var i = 0; i < WarmUp; i++)
                client.Call(message, reply);
            var start = Stopwatch.GetTimestamp();
            for (var i = 0; i < Calls; i++)
                client.Call(message, reply);
            return Stopwatch.GetElapsedTime(start).TotalNanoseconds / Calls;
        }
    }
}
