using System.Buffers;
using System.Diagnostics;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Ipc.Hosting;

/// <summary>Listens while the host runs, and serves each client asynchronously.</summary>
internal sealed partial class IpcServerService(
    string name, IOptionsMonitor<IpcServerHostOptions> monitor, AsyncRequestHandler handler, ILogger<IpcServerService> logger) : IHostedService, IDisposable
{
    private readonly CancellationTokenSource _stopAccepting = new();
    private readonly CancellationTokenSource _cancelRequests = new();
    private readonly Lock _lock = new(); // guards what follows
    private readonly Dictionary<IpcChannel, Task> _clients = [];
    private int _busy;
    private bool _stopping;

    private IpcServerHostOptions _options = new();
    private IpcListener? _listener;
    private SemaphoreSlim _room = new(0);
    private Task _accepting = Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _options = monitor.Get(name);
        _listener = _options.Implementation.Listen(_options.Address);
        _room = new SemaphoreSlim(_options.MaxClients);
        LogListening(name, _listener.Address);
        _accepting = AcceptAsync(_listener);
        return Task.CompletedTask;
    }

    /// <summary>Stops listening and lets requests in progress be answered; what is not done by then is cancelled, and cut off.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_listener is null)
            return;
        await _stopAccepting.CancelAsync().ConfigureAwait(false);
        _listener.Close();
        await _accepting.ConfigureAwait(false);
        Task[] serving;
        lock (_lock)
        {
            _stopping = true;
            serving = [.. _clients.Values];
        }
        var stop = Stopwatch.StartNew();
        while (Volatile.Read(ref _busy) > 0 && stop.Elapsed < _options.StopTimeout && !cancellationToken.IsCancellationRequested)
            await Task.Delay(5, CancellationToken.None).ConfigureAwait(false);
        await _cancelRequests.CancelAsync().ConfigureAwait(false);
        lock (_lock)
        {
            foreach (var channel in _clients.Keys)
                channel.Close();
        }
        // A handler that heeds no token is not waited for longer than the host waits.
        await Task.WhenAll(serving).WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        LogStopped(name);
    }

    public void Dispose()
    {
        _listener?.Dispose();
        _stopAccepting.Dispose();
        _cancelRequests.Dispose();
    }

    private async Task AcceptAsync(IpcListener listener)
    {
        // The rest of StartAsync does not wait for the first client.
        await Task.Yield();
        while (true)
        {
            try
            {
                await _room.WaitAsync(_stopAccepting.Token).ConfigureAwait(false);
                var channel = await listener.AcceptAsync(_stopAccepting.Token).ConfigureAwait(false);
                lock (_lock)
                    _clients.Add(channel, Task.Run(() => ServeAsync(channel)));
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (IpcException e) when (e.Status == IpcStatus.Closed)
            {
                return;
            }
            catch (IpcException e)
            {
                _room.Release();
                LogAcceptFailed(name, e);
                await Task.Delay(100, CancellationToken.None).ConfigureAwait(false);
            }
        }
    }

    private async Task ServeAsync(IpcChannel channel)
    {
        IpcTelemetry.ClientConnected(name);
        LogConnected(name);
        try
        {
            await channel.ServeAsync(AnswerAsync, e => LogHandlerFailed(name, e), _cancelRequests.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The server stops.
        }
        catch (IpcException e) when (e.Status == IpcStatus.Closed && _stopping)
        {
            // The same.
        }
        // It is only this client's session that ends, whatever happened to it.
        catch (Exception e)
        {
            LogChannelFailed(name, e);
        }
        lock (_lock)
            _clients.Remove(channel);
        channel.Dispose();
        _room.Release();
        IpcTelemetry.ClientLeft(name);
        LogLeft(name);
    }

    // While nobody listens to the telemetry and the handler answers at once, nothing but a count comes between channel and handler.
    private ValueTask AnswerAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _busy);
        ValueTask answering;
        try
        {
            answering = IpcTelemetry.IsListenedTo ? MeasureAsync(request, reply, cancellationToken) : handler(request, reply, cancellationToken);
        }
        catch
        {
            Interlocked.Decrement(ref _busy);
            throw;
        }
        if (!answering.IsCompletedSuccessfully)
            return EndAsync(answering);
        answering.GetAwaiter().GetResult(); // what it completed from may be used again
        Interlocked.Decrement(ref _busy);
        return default;
    }

    private async ValueTask EndAsync(ValueTask answering)
    {
        try
        {
            await answering.ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _busy);
        }
    }

    private async ValueTask MeasureAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken)
    {
        var start = IpcTelemetry.Begin();
        using var activity = IpcTelemetry.StartServing(name, request.Length);
        string? failure = null;
        try
        {
            await handler(request, reply, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            failure = e.GetType().FullName;
            activity?.SetStatus(ActivityStatusCode.Error, e.Message);
            throw;
        }
        finally
        {
            IpcTelemetry.Served(name, start, failure);
        }
    }

    [LoggerMessage(1, LogLevel.Information, "ipc server {Name} listens at {Address}")]
    private partial void LogListening(string name, string address);

    [LoggerMessage(2, LogLevel.Information, "ipc server {Name} has stopped")]
    private partial void LogStopped(string name);

    [LoggerMessage(3, LogLevel.Debug, "ipc server {Name}: a client has connected")]
    private partial void LogConnected(string name);

    [LoggerMessage(4, LogLevel.Debug, "ipc server {Name}: a client has left")]
    private partial void LogLeft(string name);

    [LoggerMessage(5, LogLevel.Error, "ipc server {Name}: the handler failed, which the client has been told")]
    private partial void LogHandlerFailed(string name, Exception exception);

    [LoggerMessage(6, LogLevel.Warning, "ipc server {Name}: a client broke its channel")]
    private partial void LogChannelFailed(string name, Exception exception);

    [LoggerMessage(7, LogLevel.Warning, "ipc server {Name} cannot accept a client")]
    private partial void LogAcceptFailed(string name, Exception exception);
}
