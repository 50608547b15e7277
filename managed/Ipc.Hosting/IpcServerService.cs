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
    // As long as a timer can wait, seven weeks.
    private static readonly TimeSpan s_longestWait = TimeSpan.FromMilliseconds(uint.MaxValue - 1);

    private readonly CancellationTokenSource _stopping = new(); // neither clients nor requests are received any more
    private readonly CancellationTokenSource _cancelRequests = new();
    private readonly Lock _lock = new(); // guards what follows
    private readonly Dictionary<IpcChannel, Task> _clients = [];

    private IpcServerHostOptions _options = new();
    private IpcListener? _listener;
    private SemaphoreSlim _room = new(0);
    private Task _accepting = Task.CompletedTask;
    private bool _disposed;

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
        await _stopping.CancelAsync().ConfigureAwait(false);
        _listener.Close();
        await _accepting.ConfigureAwait(false);
        Task serving;
        lock (_lock)
            serving = Task.WhenAll(_clients.Values);
        // Each client is served until the reply to its request has gone, which may be long after the handler has made it.
        var patience = _options.StopTimeout < s_longestWait ? _options.StopTimeout : s_longestWait;
        await serving.WaitAsync(patience, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _cancelRequests.CancelAsync().ConfigureAwait(false);
        CloseAll();
        // A handler that heeds no token is not waited for longer than the host waits.
        await serving.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        LogStopped(name);
    }

    /// <summary>Of a host that was never stopped, too: nobody is served any more. Handlers are not waited for.</summary>
    public void Dispose()
    {
        if (_disposed)
            return;
        _disposed = true;
        _listener?.Dispose();
        _stopping.Cancel();
        _cancelRequests.Cancel();
        CloseAll();
        _stopping.Dispose();
        _cancelRequests.Dispose();
    }

    private void CloseAll()
    {
        lock (_lock)
        {
            foreach (var channel in _clients.Keys)
                channel.Close();
        }
    }

    private async Task AcceptAsync(IpcListener listener)
    {
        // Sources give none once they are disposed.
        var (stop, cancel) = (_stopping.Token, _cancelRequests.Token);
        // The rest of StartAsync does not wait for the first client.
        await Task.Yield();
        while (true)
        {
            try
            {
                await _room.WaitAsync(stop).ConfigureAwait(false);
                var channel = await listener.AcceptAsync(stop).ConfigureAwait(false);
                lock (_lock)
                    _clients.Add(channel, Task.Run(() => ServeAsync(channel, stop, cancel)));
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

    private async Task ServeAsync(IpcChannel channel, CancellationToken stop, CancellationToken cancel)
    {
        IpcTelemetry.ClientConnected(name);
        LogConnected(name);
        try
        {
            // The token of ServeAsync only ends the wait for requests.
            await channel.ServeAsync((request, reply, _) => AnswerAsync(request, reply, cancel), e => TellFailure(e, cancel), stop).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The server stops.
        }
        catch (IpcException e) when (e.Status == IpcStatus.Closed && stop.IsCancellationRequested)
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

    private void TellFailure(Exception exception, CancellationToken cancel)
    {
        // A handler that heeds its token ends so, and has done nothing wrong.
        if (exception is OperationCanceledException && cancel.IsCancellationRequested)
            LogHandlerCancelled(name);
        else
            LogHandlerFailed(name, exception);
    }

    private ValueTask AnswerAsync(ReadOnlyMemory<byte> request, IBufferWriter<byte> reply, CancellationToken cancellationToken) =>
        IpcTelemetry.IsListenedTo ? MeasureAsync(request, reply, cancellationToken) : handler(request, reply, cancellationToken);

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

    [LoggerMessage(8, LogLevel.Warning, "ipc server {Name}: a request was cancelled, because it was still in progress when the time to stop was over")]
    private partial void LogHandlerCancelled(string name);
}
