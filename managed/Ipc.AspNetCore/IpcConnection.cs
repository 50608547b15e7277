using System.IO.Pipelines;
using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Features;

namespace Ipc.AspNetCore;

/// <summary>One client of Kestrel. Two loops carry bytes between the channel and the application's pipes: one reads also while the application does not, so
/// that a client that leaves is noticed at once.</summary>
internal sealed class IpcConnection : ConnectionContext, IConnectionIdFeature, IConnectionTransportFeature, IConnectionItemsFeature, IConnectionLifetimeFeature,
    IConnectionEndPointFeature
{
    private const int SmallestRead = 4096;

    private readonly IpcStream _stream;
    private readonly Pipe _input;
    private readonly Pipe _output;
    private readonly CancellationTokenSource _closed = new();
    private readonly TaskCompletionSource _closedIsTold = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Task _reading;
    private readonly Task _writing;
    private Exception? _abort;
    private int _disposed;

    public IpcConnection(IpcChannel channel, EndPoint endPoint, IpcTransportOptions options)
    {
        _stream = new IpcStream(channel);
        var scheduler = options.Scheduler;
        _input = new Pipe(new PipeOptions(null, scheduler, PipeScheduler.Inline, options.MaxReadBufferSize, options.MaxReadBufferSize / 2,
            useSynchronizationContext: false));
        // What the application writes goes out on its own thread.
        _output = new Pipe(new PipeOptions(null, PipeScheduler.Inline, scheduler, options.MaxWriteBufferSize, options.MaxWriteBufferSize / 2,
            useSynchronizationContext: false));
        Transport = new Ends(_input.Reader, _output.Writer);
        LocalEndPoint = endPoint;
        ConnectionClosed = _closed.Token;
        Features = new FeatureCollection();
        Features.Set<IConnectionIdFeature>(this);
        Features.Set<IConnectionTransportFeature>(this);
        Features.Set<IConnectionItemsFeature>(this);
        Features.Set<IConnectionLifetimeFeature>(this);
        Features.Set<IConnectionEndPointFeature>(this);
        _reading = ReadAsync();
        _writing = WriteAsync();
    }

    public override string ConnectionId { get; set; } = Guid.NewGuid().ToString("N");
    public override IFeatureCollection Features { get; }
    public override IDictionary<object, object?> Items { get; set; } = new ConnectionItems();
    public override IDuplexPipe Transport { get; set; }

    public override void Abort(ConnectionAbortedException abortReason)
    {
        Interlocked.CompareExchange(ref _abort, abortReason, null);
        // Ends both loops.
        _stream.Channel.Close();
        _output.Reader.CancelPendingRead();
    }

    public override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            await EndAsync().ConfigureAwait(false);
        await base.DisposeAsync().ConfigureAwait(false);
    }

    private async Task EndAsync()
    {
        await Transport.Input.CompleteAsync().ConfigureAwait(false);
        await Transport.Output.CompleteAsync().ConfigureAwait(false);
        // All that was written goes out; a client that does not read is let go of by Kestrel's own limits, which abort.
        await _writing.ConfigureAwait(false);
        _stream.Channel.Close();
        await _reading.ConfigureAwait(false);
        // A source that is disposed tells nobody any more.
        await _closedIsTold.Task.ConfigureAwait(false);
        await _stream.DisposeAsync().ConfigureAwait(false);
        _closed.Dispose();
    }

    // Both loops catch everything: how a connection ended is told by its pipes.
    private async Task ReadAsync()
    {
        Exception? failure = null;
        try
        {
            while (true)
            {
                var length = await _stream.ReadAsync(_input.Writer.GetMemory(SmallestRead)).ConfigureAwait(false);
                if (length == 0)
                    break;
                _input.Writer.Advance(length);
                var flushed = await _input.Writer.FlushAsync().ConfigureAwait(false);
                if (flushed.IsCompleted || flushed.IsCanceled)
                    break;
            }
        }
        catch (Exception e)
        {
            failure = Ending(e);
        }
        await _input.Writer.CompleteAsync(failure).ConfigureAwait(false);
        Closed();
    }

    private async Task WriteAsync()
    {
        Exception? failure = null;
        try
        {
            while (true)
            {
                var read = await _output.Reader.ReadAsync().ConfigureAwait(false);
                if (read.IsCanceled)
                    break;
                foreach (var piece in read.Buffer)
                    await _stream.WriteAsync(piece).ConfigureAwait(false);
                _output.Reader.AdvanceTo(read.Buffer.End);
                if (read.IsCompleted)
                    break;
            }
        }
        catch (Exception e)
        {
            failure = Ending(e);
            _stream.Channel.Close();
        }
        await _output.Reader.CompleteAsync(failure).ConfigureAwait(false);
    }

    // In Kestrel's words: a client that was cut off, or an end from here.
    private Exception Ending(Exception e) => Volatile.Read(ref _abort) ?? (e is IpcException { Status: IpcStatus.Closed }
        ? new ConnectionAbortedException("the connection was closed here", e) : new ConnectionResetException(e.Message, e));

    // Not on this thread: what is registered for it may do anything.
    private void Closed() => ThreadPool.UnsafeQueueUserWorkItem(static connection => connection.Cancel(), this, preferLocal: false);

    private void Cancel()
    {
        try
        {
            _closed.Cancel();
        }
        // What is registered for it has failed, which must not end the process.
        catch (AggregateException)
        {
        }
        _closedIsTold.SetResult();
    }

    private sealed record Ends(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
