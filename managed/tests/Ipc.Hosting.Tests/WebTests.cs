using System.Net;
using System.Security.Cryptography;
using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;
using Ipc.AspNetCore;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Xunit;

namespace Ipc.Hosting.Tests;

/// <summary>Kestrel and gRPC over channels, server and clients in this process.</summary>
public sealed class WebTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    public static TheoryData<string> Transports => new("shm", "unix", "pipe");

    private static string NewAddress(string transport) => $"{transport}://web-{Guid.NewGuid():N}";

    private static async Task<WebApplication> StartAsync(string address, HttpProtocols protocols, Action<WebApplication> map,
        Action<IpcTransportOptions>? configure = null)
    {
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseIpc(configure);
        builder.WebHost.ConfigureKestrel(kestrel =>
        {
            kestrel.Limits.MaxRequestBodySize = 64 << 20;
            kestrel.ListenIpc(address, listen => listen.Protocols = protocols);
        });
        builder.Services.AddGrpc();
        builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromSeconds(5));
        var app = builder.Build();
        map(app);
        await app.StartAsync().WaitAsync(s_patience);
        return app;
    }

    private static HttpClient NewClient(string address) =>
        new(IpcHttp.CreateHandler(address)) { BaseAddress = new Uri("http://localhost"), Timeout = s_patience };

    private static GrpcChannel NewGrpcChannel(string address) => GrpcChannel.ForAddress("http://localhost",
        new GrpcChannelOptions { HttpHandler = IpcHttp.CreateHandler(address), DisposeHttpClient = true });

    private static byte[] RandomBytes(int length)
    {
        var bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task LargeBodiesGoBothWaysOverHttp(string transport)
    {
        var address = NewAddress(transport);
        await using var app = await StartAsync(address, HttpProtocols.Http1, app => app.MapPost("/echo", async (HttpRequest request, HttpResponse response) =>
        {
            // All of it before the answer begins: a client of HTTP/1.1 does not read before it has written.
            using var body = new MemoryStream();
            await request.Body.CopyToAsync(body);
            await response.Body.WriteAsync(body.GetBuffer().AsMemory(0, (int)body.Length));
        }));
        using var client = NewClient(address);
        foreach (var length in (int[])[0, 1, 10_000, 8 << 20])
        {
            var sent = RandomBytes(length);
            var response = await client.PostAsync("/echo", new ByteArrayContent(sent));
            Assert.Equal(HttpStatusCode.OK, response.StatusCode);
            Assert.Equal(SHA256.HashData(sent), SHA256.HashData(await response.Content.ReadAsByteArrayAsync()));
        }
        await app.StopAsync().WaitAsync(s_patience);
        Assert.Equal(IpcStatus.NoServer, Assert.Throws<IpcException>(() => ManagedIpc.Connect(address)).Status);
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task ManyConnectionsAreServedAtOnce(string transport)
    {
        const int Clients = 20;
        var address = NewAddress(transport);
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var come = 0;
        await using var app = await StartAsync(address, HttpProtocols.Http1, app => app.MapGet("/{n:int}", async (int n, HttpContext context) =>
        {
            // Nobody is answered before all have asked: each has a connection of its own.
            if (Interlocked.Increment(ref come) == Clients)
                all.SetResult();
            await all.Task.WaitAsync(s_patience);
            return $"{n} {context.Connection.Id}";
        }));
        using var client = NewClient(address);
        var answers = await Task.WhenAll(Enumerable.Range(0, Clients).Select(n => client.GetStringAsync($"/{n}"))).WaitAsync(s_patience);
        Assert.Equal(Enumerable.Range(0, Clients).Select(n => $"{n}"), answers.Select(a => a.Split(' ')[0]));
        Assert.Equal(Clients, answers.Select(a => a.Split(' ')[1]).Distinct().Count());
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task AClientThatLeavesIsNoticedWhileItsRequestIsServed(string transport)
    {
        var address = NewAddress(transport);
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var noticed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var app = await StartAsync(address, HttpProtocols.Http1, app => app.MapGet("/", async (HttpContext context) =>
        {
            context.RequestAborted.Register(noticed.SetResult);
            begun.SetResult();
            await noticed.Task.WaitAsync(s_patience);
        }));
        using (var client = NewClient(address))
        {
            _ = client.GetAsync("/").ContinueWith(static task => task.Exception, TaskScheduler.Default);
            await begun.Task.WaitAsync(s_patience);
        }
        await noticed.Task.WaitAsync(s_patience);
    }

    // It would be thrown on a thread of the pool, and end the process.
    [Fact]
    public async Task WhatIsRegisteredForAConnectionsEndMayFail()
    {
        var address = NewAddress("unix");
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var app = await StartAsync(address, HttpProtocols.Http1, app =>
        {
            app.MapGet("/register", (HttpContext context) =>
            {
                context.Features.GetRequiredFeature<IConnectionLifetimeFeature>().ConnectionClosed.Register(() =>
                {
                    ended.SetResult();
                    throw new InvalidOperationException("from the registration");
                });
                return "registered";
            });
            app.MapGet("/", () => "here");
        });
        using (var leaving = NewClient(address))
            Assert.Equal("registered", await leaving.GetStringAsync("/register"));
        await ended.Task.WaitAsync(s_patience);
        using var other = NewClient(address);
        Assert.Equal("here", await other.GetStringAsync("/"));
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task AServerThatClosesFailsWhatIsUnderWay(string transport)
    {
        var address = NewAddress(transport);
        await using var app = await StartAsync(address, HttpProtocols.Http1, app => app.MapGet("/", (HttpContext context) => context.Abort()));
        using var client = NewClient(address);
        await Assert.ThrowsAsync<HttpRequestException>(() => client.GetAsync("/"));
        // The next request has a connection of its own.
        await Assert.ThrowsAsync<HttpRequestException>(() => client.GetAsync("/"));
        await app.StopAsync().WaitAsync(s_patience);
        var refused = await Assert.ThrowsAsync<HttpRequestException>(() => client.GetAsync("/"));
        Assert.Equal(IpcStatus.NoServer, Assert.IsType<IpcException>(refused.InnerException).Status);
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task GrpcCallsAndStreamsGoBothWays(string transport)
    {
        var address = NewAddress(transport);
        await using var app = await StartAsync(address, HttpProtocols.Http2, app => app.MapGrpcService<EchoService>());
        using var channel = NewGrpcChannel(address);
        var client = new Echo.EchoClient(channel);
        var deadline = DateTime.UtcNow + s_patience;
        var data = ByteString.CopyFrom(RandomBytes(100_000));

        Assert.Equal(data, (await client.OnceAsync(new Piece { Data = data }, deadline: deadline)).Data);
        Assert.Equal(StatusCode.DeadlineExceeded, (await Assert.ThrowsAsync<RpcException>(
            async () => await client.WaitAsync(new Piece(), deadline: DateTime.UtcNow.AddMilliseconds(50)))).StatusCode);

        using (var collect = client.Collect(deadline: deadline))
        {
            for (var i = 0; i < 50; i++)
                await collect.RequestStream.WriteAsync(new Piece { Data = data });
            await collect.RequestStream.CompleteAsync();
            Assert.Equal(50 * data.Length, (await collect).Bytes);
        }
        using (var send = client.Send(new Count { Pieces = 50, Bytes = 100_000 }, deadline: deadline))
        {
            var pieces = 0;
            await foreach (var piece in send.ResponseStream.ReadAllAsync())
            {
                Assert.Equal(data, piece.Data);
                pieces++;
            }
            Assert.Equal(50, pieces);
        }
        using (var both = client.Both(deadline: deadline))
        {
            for (var i = 0; i < 100; i++)
            {
                await both.RequestStream.WriteAsync(new Piece { Data = ByteString.CopyFrom((byte)i) });
                Assert.True(await both.ResponseStream.MoveNext(CancellationToken.None));
                Assert.Equal((byte)i, both.ResponseStream.Current.Data[0]);
            }
            await both.RequestStream.CompleteAsync();
            Assert.False(await both.ResponseStream.MoveNext(CancellationToken.None));
        }
        await app.StopAsync().WaitAsync(s_patience);
        // .NET's HTTP/2 client can begin a call on the connection the server is ending. It then fails with the code of that end, which gRPC
        // calls Internal (plain Kestrel over TCP: 11 of 150 such calls). The call after it needs a new connection, so its status is certain.
        var refused = await Assert.ThrowsAsync<RpcException>(async () => await client.OnceAsync(new Piece(), deadline: deadline));
        if (refused is { StatusCode: StatusCode.Internal, Status.DebugException.InnerException: HttpProtocolException { ErrorCode: 0 } })
            refused = await Assert.ThrowsAsync<RpcException>(async () => await client.OnceAsync(new Piece(), deadline: deadline));
        Assert.True(refused.StatusCode == StatusCode.Unavailable, $"A call to a server that has stopped ended with {refused.StatusCode}: {refused}");
    }

    [Fact]
    public async Task ManyGrpcCallsShareOneConnectionInline()
    {
        var address = NewAddress("shm");
        await using var app = await StartAsync(address, HttpProtocols.Http2, app => app.MapGrpcService<EchoService>(), options =>
            options.UnsafePreferInlineScheduling = true);
        using var channel = NewGrpcChannel(address);
        var client = new Echo.EchoClient(channel);
        // Away from the test framework's synchronization context, which starts a thread for every continuation.
        var answers = await Task.Run(() => Task.WhenAll(Enumerable.Range(0, 200).Select(async n =>
            (await client.OnceAsync(new Piece { Data = ByteString.CopyFromUtf8($"{n}") }, deadline: DateTime.UtcNow + s_patience)).Data.ToStringUtf8())));
        Assert.Equal(Enumerable.Range(0, 200).Select(n => $"{n}"), answers);
    }

    [Fact]
    public async Task ATakenNameIsKestrelsAddressInUse()
    {
        var address = NewAddress("unix");
        using var other = ManagedIpc.Listen(address);
        var refused = await Assert.ThrowsAsync<IOException>(() => StartAsync(address, HttpProtocols.Http1, _ => { }));
        Assert.IsType<AddressInUseException>(refused.InnerException);
    }
}

internal sealed class EchoService : Echo.EchoBase
{
    public override Task<Piece> Once(Piece request, ServerCallContext context) => Task.FromResult(request);

    public override async Task<Count> Collect(IAsyncStreamReader<Piece> requestStream, ServerCallContext context)
    {
        var count = new Count();
        await foreach (var piece in requestStream.ReadAllAsync(context.CancellationToken))
            (count.Pieces, count.Bytes) = (count.Pieces + 1, count.Bytes + piece.Data.Length);
        return count;
    }

    public override async Task Send(Count request, IServerStreamWriter<Piece> responseStream, ServerCallContext context)
    {
        var bytes = new byte[request.Bytes];
        new Random(request.Bytes).NextBytes(bytes);
        for (var i = 0; i < request.Pieces; i++)
            await responseStream.WriteAsync(new Piece { Data = ByteString.CopyFrom(bytes) }, context.CancellationToken);
    }

    public override async Task Both(IAsyncStreamReader<Piece> requestStream, IServerStreamWriter<Piece> responseStream, ServerCallContext context)
    {
        await foreach (var piece in requestStream.ReadAllAsync(context.CancellationToken))
            await responseStream.WriteAsync(piece, context.CancellationToken);
    }

    public override async Task<Piece> Wait(Piece request, ServerCallContext context)
    {
        var left = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var registration = context.CancellationToken.Register(left.SetResult);
        await left.Task;
        return request;
    }
}
