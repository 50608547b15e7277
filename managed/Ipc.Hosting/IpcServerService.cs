using System.Buffers;
using System.Diagnostics;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Ipc.Hosting;

/// <summary>An <see cref="IpcAsyncServer"/> that listens while the host runs, writes to its log and keeps its counts.</summary>
internal sealed partial class IpcServerService(
    string name, IOptionsMonitor<IpcServerHostOptions> monitor, AsyncRequestHandler handler, ILogger<IpcServerService> logger)
    : IHostedService, IDisposable, IAsyncServerEvents
{
    private IpcAsyncServer? _server;
    private TimeSpan _stopTimeout;

    public Task StartAsync(CancellationToken cancellationToken)
    {
        var options = monitor.Get(name);
        _stopTimeout = options.StopTimeout;
        _server = new IpcAsyncServer(options.Address, AnswerAsync,
            new IpcAsyncServerOptions { MaxClients = options.MaxClients, CallsAtOnce = options.CallsAtOnce, Implementation = options.Implementation }, this);
        LogListening(name, _server.Address);
        return Task.CompletedTask;
    }

    /// <summary>Stops listening and lets requests in progress be answered; what is not done by then is cancelled, and cut off.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (_server is null)
            return;
        await _server.StopAsync(_stopTimeout, cancellationToken).ConfigureAwait(false);
        // A handler that heeds no token is not waited for longer than the host waits.
        await _server.DisposeAsync().AsTask().WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        LogStopped(name);
    }

    /// <summary>Of a host that was never stopped, too: nobody is served any more. Handlers are not waited for.</summary>
    public void Dispose() => _server?.Close();

    void IAsyncServerEvents.ClientConnected()
    {
        IpcTelemetry.ClientConnected(name);
        LogConnected(name);
    }

    void IAsyncServerEvents.ClientLeft()
    {
        IpcTelemetry.ClientLeft(name);
        LogLeft(name);
    }

    void IAsyncServerEvents.AcceptFailed(Exception exception) => LogAcceptFailed(name, exception);

    void IAsyncServerEvents.ChannelFailed(Exception exception) => LogChannelFailed(name, exception);

    void IAsyncServerEvents.HandlerFailed(Exception exception, bool wasCancelled)
    {
        if (wasCancelled)
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
