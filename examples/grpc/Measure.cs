using System.Diagnostics;
using System.Net.Http;
using System.Net.Sockets;
using Grpc.Net.Client;
using Ipc;
using Ipc.AspNetCore;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Examples;

/// <summary>What a unary call takes at each of several addresses, in turns. A path in place of an address is .NET's own Unix socket, to compare with.</summary>
internal static class Measure
{
    private const int WarmUp = 20_000, Calls = 3_000;

    public static async Task<int> RunAsync(int rounds, string[] addresses)
    {
        var clients = addresses.Select(address => new Prices.PricesClient(
            GrpcChannel.ForAddress("http://localhost", new GrpcChannelOptions { HttpHandler = NewHandler(address), DisposeHttpClient = true }))).ToArray();
        foreach (var client in clients)
            await AskAsync(client, WarmUp);
        var times = addresses.Select(_ => new List<double[]>()).ToArray();
        for (var round = 0; round < rounds; round++)
        {
            // Each goes first as often as the others.
            for (var i = 0; i < clients.Length; i++)
                times[(i + round) % clients.Length].Add(await AskAsync(clients[(i + round) % clients.Length], Calls));
        }
        foreach (var (address, taken) in addresses.Zip(times))
        {
            var (p50, p99) = (taken.Select(t => t[t.Length / 2]).Order().ToArray(), taken.Select(t => t[t.Length * 99 / 100]).Order().ToArray());
            Console.WriteLine($"{address}: p50 {p50[rounds / 2]:0.0} us ({p50[0]:0.0} to {p50[^1]:0.0}), p99 {p99[rounds / 2]:0.0} us ({p99[0]:0.0} "
                + $"to {p99[^1]:0.0})");
        }
        // What the machine did during a round it did to all of them.
        foreach (var (address, taken) in addresses.Zip(times).SkipLast(1))
        {
            var ratios = taken.Zip(times[^1], (own, last) => own[own.Length / 2] / last[last.Length / 2]).Order().ToArray();
            Console.WriteLine($"{address} by {addresses[^1]}: p50 {ratios[rounds / 2]:0.00} times as long, quartiles {ratios[rounds / 4]:0.00} to "
                + $"{ratios[rounds * 3 / 4]:0.00}; shorter in {ratios.Count(r => r < 1)} of {rounds} rounds");
        }
        return 0;
    }

    public static void Listen(KestrelServerOptions kestrel, string address, Action<ListenOptions> configure)
    {
        if (address.StartsWith('/'))
            kestrel.ListenUnixSocket(address, configure);
        else
            kestrel.ListenIpc(address, configure);
    }

    // Microseconds, in order.
    private static async Task<double[]> AskAsync(Prices.PricesClient client, int calls)
    {
        var question = new Question { Name = "EURUSD" };
        var times = new double[calls];
        for (var i = 0; i < calls; i++)
        {
            var start = Stopwatch.GetTimestamp();
            await client.AskAsync(question);
            times[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
        }
        Array.Sort(times);
        return times;
    }

    private static SocketsHttpHandler NewHandler(string address) => !address.StartsWith('/') ? IpcHttp.CreateHandler(address) : new SocketsHttpHandler
    {
        ConnectCallback = async (_, cancellationToken) =>
        {
            var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            await socket.ConnectAsync(new UnixDomainSocketEndPoint(address), cancellationToken);
            return new NetworkStream(socket, ownsSocket: true);
        },
        UseProxy = false,
        UseCookies = false,
    };
}
