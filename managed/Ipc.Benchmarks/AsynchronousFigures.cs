using System.Buffers;
using System.Diagnostics;
using Ipc.Native;

namespace Ipc.Benchmarks;

/// <summary>What docs/dotnet.md says of asynchronous calls: against blocking ones in one run, with a thousand channels waiting, and how soon a
/// cancelled wait returns. Both ends are in this process, so the figures are for comparing with each other.</summary>
internal static class AsynchronousFigures
{
    private const int Rounds = 5, Calls = 10_000, Channels = 1000, Cancellations = 5000;

    public static async Task<int> Run()
    {
        Console.WriteLine($"{Environment.ProcessorCount} processors, .NET {Environment.Version}, {Environment.OSVersion.VersionString}");
        Console.WriteLine("\ncalls of 32 bytes, microseconds: medians of five rounds of 10000 calls, the middle, lowest and highest; "
            + "bytes allocated per call in the whole process");
        (string Side, string Transport)[] compared =
            [("managed", "unix"), ("managed", "tcp"), ("managed", "shm?wait=block"), ("managed", "shm"), ("bound", "unix")];
        foreach (var (side, transport) in compared)
            await CompareCalls(side, transport);
        Console.WriteLine($"\n{Channels} channels waiting in ReceiveRequestAsync, one of them called at a time (blocking client)");
        foreach (var transport in new[] { "unix", "tcp", "shm?size=64k&wait=block" })
            await Wait(transport);
        Console.WriteLine($"\nfrom Cancel to the exception caught, of {Cancellations} receives, microseconds");
        foreach (var transport in new[] { "unix", "tcp", "shm?wait=block", "shm?wait=spin" })
            await CancelWaits("managed", transport);
        foreach (var transport in new[] { "unix", "shm?wait=block", "shm-event?wait=block" })
            await CancelWaits("bound", transport);
        return 0;
    }

    private static string NewAddress(string transport)
    {
        var parts = transport.Split('?');
        return $"{parts[0]}://{(parts[0] == "tcp" ? "0" : $"figures-{Guid.NewGuid():N}")}{(parts.Length > 1 ? "?" + parts[1] : "")}";
    }

    private static async Task<(IpcChannel Client, IpcChannel Server)> Connect(IIpc ipc, string transport)
    {
        using var listener = ipc.Listen(NewAddress(transport));
        var connecting = ipc.ConnectAsync(listener.Address);
        var server = await listener.AcceptAsync();
        return (await connecting, server);
    }

    // The server is a blocking one on a thread of its own in each case: only the client differs. Rounds of both kinds in turns.
    private static async Task CompareCalls(string side, string transport)
    {
        var (client, server) = await Connect(side == "bound" ? NativeIpc.Instance : ManagedIpc.Instance, transport);
        var serving = new Thread(() => server.Serve((request, reply) => request.CopyTo(reply.Reserve(request.Length))));
        serving.Start();
        var blocking = new List<double>();
        var asynchronous = new List<double>();
        double blockingBytes = 0, asynchronousBytes = 0;
        var message = new byte[32];
        var reply = new byte[32];
        var times = new double[Calls];
        for (var round = -1; round < Rounds; round++)
        {
            var before = GC.GetTotalAllocatedBytes(true);
            for (var i = 0; i < Calls; i++)
            {
                var start = Stopwatch.GetTimestamp();
                client.Call(message, reply);
                times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
            }
            blockingBytes = (double)(GC.GetTotalAllocatedBytes(true) - before) / Calls;
            if (round >= 0)
                blocking.Add(Percentile(times, 0.5));
            before = GC.GetTotalAllocatedBytes(true);
            for (var i = 0; i < Calls; i++)
            {
                var start = Stopwatch.GetTimestamp();
                await client.CallAsync(message, reply);
                times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
            }
            asynchronousBytes = (double)(GC.GetTotalAllocatedBytes(true) - before) / Calls;
            if (round >= 0)
                asynchronous.Add(Percentile(times, 0.5));
        }
        client.Dispose();
        serving.Join();
        server.Dispose();
        Console.WriteLine($"{side,-8} {transport,-16} blocking {Spread(blocking)}, {blockingBytes:0.0} B   "
            + $"asynchronous {Spread(asynchronous)}, {asynchronousBytes:0.0} B");
    }

    private static async Task Wait(string transport)
    {
        using var process = Process.GetCurrentProcess();
        GC.Collect();
        process.Refresh();
        var (threadsBefore, memoryBefore) = (process.Threads.Count, process.WorkingSet64);
        var pairs = new List<(IpcChannel Client, IpcChannel Server)>();
        var serving = new List<Task>();
        using var listener = ManagedIpc.Listen(NewAddress(transport));
        for (var i = 0; i < Channels; i++)
        {
            var connecting = ManagedIpc.ConnectAsync(listener.Address);
            var server = await listener.AcceptAsync();
            pairs.Add((await connecting, server));
            serving.Add(server.ServeAsync(static (request, reply, _) =>
            {
                reply.Write(request.Span);
                return default;
            }));
        }
        await Task.Delay(2000);
        process.Refresh();
        var perPair = (process.WorkingSet64 - memoryBefore) / Channels / 1024.0;
        Console.WriteLine($"{transport,-24} {process.Threads.Count - threadsBefore} threads more than before, and "
            + $"{perPair:0.0} kB of working set for each connection, both ends");
        var times = new double[Calls];
        var buffer = new byte[32];
        for (var i = 0; i < Calls; i++)
        {
            var start = Stopwatch.GetTimestamp();
            pairs[i * 7 % Channels].Client.Call(buffer, buffer);
            times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
        }
        Console.WriteLine($"{"",-24} a call: p50 {Percentile(times, 0.5):0.0}, p99 {Percentile(times, 0.99):0.0} us");
        foreach (var (client, server) in pairs)
            client.Dispose();
        await Task.WhenAll(serving);
        foreach (var (client, server) in pairs)
            server.Dispose();
    }

    private static async Task CancelWaits(string side, string transport)
    {
        var (client, server) = await Connect(side == "bound" ? NativeIpc.Instance : ManagedIpc.Instance, transport);
        var times = new double[Cancellations];
        var buffer = new byte[32];
        for (var i = 0; i < Cancellations; i++)
        {
            using var cancellation = new CancellationTokenSource();
            var start = 0L;
            var receiving = server.ReceiveAsync(buffer, cancellation.Token);
            _ = ThreadPool.UnsafeQueueUserWorkItem(_ =>
            {
                start = Stopwatch.GetTimestamp();
                cancellation.Cancel();
            }, null);
            try
            {
                await receiving;
            }
            catch (OperationCanceledException)
            {
                times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
            }
        }
        client.Dispose();
        server.Dispose();
        Console.WriteLine($"{side,-8}{transport,-24} p50 {Percentile(times, 0.5):0.0}, p99 {Percentile(times, 0.99):0.0}, longest {times.Max():0.0}");
    }

    private static double Percentile(double[] times, double part) => times.Order().ElementAt((int)(part * (times.Length - 1)));

    private static string Spread(List<double> medians)
    {
        medians.Sort();
        return $"{medians[medians.Count / 2]:0.00} ({medians[0]:0.00} to {medians[^1]:0.00})";
    }
}
