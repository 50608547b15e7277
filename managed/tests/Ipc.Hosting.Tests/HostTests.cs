using System.Buffers;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Xunit;

namespace Ipc.Hosting.Tests;

public sealed class HostTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private static string NewAddress() => $"unix://hosting-{Guid.NewGuid():N}";

    private static ValueTask Echo(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        reply.Write(request.Span);
        return default;
    }

    private static HostApplicationBuilder NewHost(string address, ConcurrentQueue<string>? log = null)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Prices:Address"] = address,
            ["Prices:MaxClients"] = "2",
            ["Prices:StopTimeout"] = "00:00:01",
        });
        builder.Services.AddLogging(logging => logging.SetMinimumLevel(LogLevel.Debug));
        if (log is not null)
            builder.Services.AddSingleton<ILoggerProvider>(new LogLines(log));
        return builder;
    }

    [Fact]
    public async Task AServerAndItsClientAreConfiguredAndTalk()
    {
        var log = new ConcurrentQueue<string>();
        var address = NewAddress();
        var builder = NewHost(address, log);
        builder.Services.AddIpcServer("prices", _ => Echo).Bind(builder.Configuration.GetSection("Prices"));
        builder.Services.AddIpcClient("prices").Bind(builder.Configuration.GetSection("Prices"));
        using (var host = builder.Build())
        {
            await host.StartAsync().WaitAsync(s_patience);
            var client = host.Services.GetRequiredKeyedService<IpcClient>("prices");
            Assert.Same(client, host.Services.GetRequiredKeyedService<IpcClient>("prices"));
            var reply = new byte[10];
            Assert.Equal(3, await client.CallAsync(new byte[] { 1, 2, 3 }, reply).AsTask().WaitAsync(s_patience));
            Assert.Equal(2, reply[1]);
            Assert.Equal(2, host.Services.GetRequiredService<IOptionsMonitor<IpcServerHostOptions>>().Get("prices").MaxClients);
            await host.StopAsync().WaitAsync(s_patience);
        }
        Assert.Equal(IpcStatus.NoServer, Assert.Throws<IpcException>(() => ManagedIpc.Connect(address)).Status);
        Assert.Contains($"ipc server prices listens at {address}", log);
        Assert.Contains("ipc server prices has stopped", log);
    }

    // A disk that is full, say: whoever serves must not end with his log.
    [Fact]
    public async Task ALogThatFailsHarmsNoClient()
    {
        var address = NewAddress();
        var builder = NewHost(address);
        builder.Services.AddSingleton<ILoggerProvider>(new FailingLog());
        builder.Services.AddIpcServer("prices", _ => (request, reply, cancellationToken) =>
            request.Length == 0 ? throw new InvalidOperationException("nothing is asked") : Echo(request, reply, cancellationToken))
            .Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        for (var i = 0; i < 5; i++) // more than two, which is the most at a time
        {
            using var client = ManagedIpc.Connect(address, 10_000);
            Assert.Equal(IpcStatus.HandlerFailed, Assert.Throws<IpcException>(() => client.Call([], new byte[10], 10_000)).Status);
            Assert.Equal(1, client.Call([1], new byte[10], 10_000));
        }
        await host.StopAsync().WaitAsync(s_patience);
    }

    [Theory]
    [InlineData("", "2", "Address")]
    [InlineData("carrier-pigeon://x", "2", "Address")]
    [InlineData("unix://hosting-never", "0", "MaxClients")]
    public async Task WrongOptionsAreRefusedAtTheStart(string address, string maxClients, string named)
    {
        var builder = NewHost(address);
        builder.Configuration["Prices:MaxClients"] = maxClients;
        builder.Services.AddIpcServer("prices", _ => Echo).Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());
        Assert.Contains(named, failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task StoppingAnswersWhatIsInProgressAndCancelsWhatTakesTooLong()
    {
        var begun = new SemaphoreSlim(0);
        var log = new ConcurrentQueue<string>();
        var address = NewAddress();
        var builder = NewHost(address, log);
        builder.Services.AddIpcServer("prices", _ => async (request, reply, token) =>
        {
            begun.Release();
            await Task.Delay(request.Span[0] == 1 ? TimeSpan.FromMilliseconds(200) : Timeout.InfiniteTimeSpan, token);
            reply.Write<byte>([7]);
        }).Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        using var quick = ManagedIpc.Connect(address, 1000);
        using var endless = ManagedIpc.Connect(address, 1000);
        var answered = quick.CallAsync(new byte[] { 1 }, new byte[1]).AsTask();
        var cutOff = endless.CallAsync(new byte[] { 2 }, new byte[1]).AsTask();
        await begun.WaitAsync(s_patience);
        await begun.WaitAsync(s_patience);
        await host.StopAsync().WaitAsync(s_patience);
        Assert.Equal(1, await answered.WaitAsync(s_patience));
        var status = (await Assert.ThrowsAsync<IpcException>(() => cutOff.WaitAsync(s_patience))).Status;
        Assert.True(status is IpcStatus.HandlerFailed or IpcStatus.PeerClosed, $"{status}");
        Assert.DoesNotContain(log, line => line.Contains("the handler failed", StringComparison.Ordinal));
        Assert.Single(log, "ipc server prices: a request was cancelled, because it was still in progress when the time to stop was over");
    }

    // The handler made it long before the client has taken it.
    [Fact]
    public async Task StoppingLetsALongReplyGoOut()
    {
        const int length = 8_000_000;
        var made = new SemaphoreSlim(0);
        var address = $"{NewAddress()}?max=16M";
        var builder = NewHost(address);
        builder.Configuration["Prices:StopTimeout"] = "00:01:00";
        builder.Services.AddIpcServer("prices", _ => (_, reply, _) =>
        {
            reply.Write(new byte[length]);
            made.Release();
            return default;
        }).Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        using var client = ManagedIpc.Connect(address, 1000);
        client.Submit([1], 1);
        Assert.True(await made.WaitAsync(s_patience));
        var stopped = host.StopAsync();
        // Time to cut the reply off, for a server that would.
        await Task.WhenAny(stopped, Task.Delay(200));

        Assert.Equal(length, client.Complete(new byte[length], 10_000).Length);
        await stopped.WaitAsync(s_patience);
    }

    [Fact]
    public async Task AHostThatIsDisposedOfWithoutBeingStoppedServesNobody()
    {
        var address = NewAddress();
        var builder = NewHost(address);
        builder.Services.AddIpcServer("prices", _ => Echo).Bind(builder.Configuration.GetSection("Prices"));
        using var client = await ConnectedTo(builder, address);

        Assert.Equal(IpcStatus.PeerClosed, Assert.Throws<IpcException>(() => client.Call([1], new byte[1], 5000)).Status);
        Assert.Equal(IpcStatus.NoServer, Assert.Throws<IpcException>(() => ManagedIpc.Connect(address)).Status);

        static async Task<IpcChannel> ConnectedTo(HostApplicationBuilder builder, string address)
        {
            using var host = builder.Build();
            await host.StartAsync().WaitAsync(s_patience);
            var client = ManagedIpc.Connect(address, 1000);
            Assert.Equal(1, client.Call([1], new byte[1], 5000));
            return client;
        }
    }

    // Nor does it leave anything in progress that stopping would wait for.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task AHandlersFailureIsLoggedAndEndsNothing(bool later)
    {
        static async ValueTask FailLater()
        {
            await Task.Yield();
            throw new InvalidOperationException("no such price");
        }

        var log = new ConcurrentQueue<string>();
        var address = NewAddress();
        var builder = NewHost(address, log);
        builder.Configuration["Prices:StopTimeout"] = "00:01:00";
        builder.Services.AddIpcServer("prices", _ => (request, _, _) => request.Length != 1 ? default
            : later ? FailLater() : throw new InvalidOperationException("no such price")).Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        using var client = ManagedIpc.Connect(address, 1000);
        Assert.Equal(IpcStatus.HandlerFailed, Assert.Throws<IpcException>(() => client.Call([1], [], 5000)).Status);
        Assert.Equal(0, client.Call([1, 2], [], 5000));
        Assert.Contains("ipc server prices: the handler failed, which the client has been told: no such price", log);
        await host.StopAsync().WaitAsync(s_patience);
    }

    [Fact]
    public async Task NoMoreClientsThanAllowedAreServedAtOnce()
    {
        var address = NewAddress();
        var builder = NewHost(address);
        builder.Services.AddIpcServer("prices", _ => Echo).Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        var clients = Enumerable.Range(0, 3).Select(_ => ManagedIpc.Connect(address, 1000)).ToList();
        Assert.Equal(1, clients[0].Call([1], new byte[1], 5000));
        Assert.Equal(1, clients[1].Call([1], new byte[1], 5000));
        var third = clients[2].CallAsync(new byte[1], new byte[1]).AsTask();
        await Task.Delay(100);
        Assert.False(third.IsCompleted);
        clients[0].Dispose();
        Assert.Equal(1, await third.WaitAsync(s_patience));
        clients.ForEach(client => client.Dispose());
        await host.StopAsync().WaitAsync(s_patience);
    }

    [Fact]
    public async Task RequestsAreMeasuredAndTracedForWhoeverListens()
    {
        var name = $"prices-{Guid.NewGuid():N}"; // other tests' servers are measured, too
        var measured = new ConcurrentQueue<(string Instrument, object? Error)>();
        var traced = new ConcurrentQueue<Activity>();
        using var meters = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Name == IpcTelemetry.Name)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        meters.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Note(instrument, tags));
        meters.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Note(instrument, tags));
        meters.Start();
        using var activities = new ActivityListener
        {
            ShouldListenTo = source => source.Name == IpcTelemetry.Name,
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = traced.Enqueue,
        };
        ActivitySource.AddActivityListener(activities);

        var address = NewAddress();
        var builder = NewHost(address);
        builder.Services.AddIpcServer(name, _ => (request, _, _) => request.Length == 1 ? throw new InvalidOperationException("no") : default)
            .Bind(builder.Configuration.GetSection("Prices"));
        using var host = builder.Build();
        await host.StartAsync().WaitAsync(s_patience);
        using (var client = ManagedIpc.Connect(address, 1000))
        {
            Assert.Equal(0, client.Call([1, 2], [], 5000));
            Assert.Throws<IpcException>(() => client.Call([1], [], 5000));
        }
        await host.StopAsync().WaitAsync(s_patience);
        Assert.Equal(2, measured.Count(one => one.Instrument == "ipc.server.active_clients"));
        Assert.Equal([null, "System.InvalidOperationException"],
            measured.Where(one => one.Instrument == "ipc.server.request.duration").Select(one => one.Error));
        Assert.Equal([ActivityStatusCode.Unset, ActivityStatusCode.Error],
            traced.Where(one => Equals(one.GetTagItem("ipc.server"), name)).Select(one => one.Status));

        void Note(Instrument instrument, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            object? server = null, error = null;
            foreach (var tag in tags)
            {
                if (tag.Key == "ipc.server")
                    server = tag.Value;
                if (tag.Key == "error.type")
                    error = tag.Value;
            }
            if (Equals(server, name))
                measured.Enqueue((instrument.Name, error));
        }
    }

    /// <summary>Fails when a server says something of its clients. A host whose own log fails does not start.</summary>
    private sealed class FailingLog : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => categoryName.StartsWith("Ipc.", StringComparison.Ordinal) ? this : NullLogger.Instance;
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;
        public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.Information;
        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            throw new IOException("no space left");
        public void Dispose()
        {
        }
    }

    /// <summary>Keeps what is logged by the library.</summary>
    private sealed class LogLines(ConcurrentQueue<string> lines) : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;
        public bool IsEnabled(LogLevel logLevel) => true;
        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            lines.Enqueue(formatter(state, exception) + (exception is null ? "" : $": {exception.Message}"));
        public void Dispose()
        {
        }
    }
}
