using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Options;

namespace Ipc.AspNetCore;

/// <summary>Listens at endpoints of ipc and leaves all others to whoever else is registered.</summary>
internal sealed class IpcConnectionListenerFactory(IOptions<IpcTransportOptions> options) : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    public bool CanBind(EndPoint endpoint) => endpoint is IpcEndPoint;

    public ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default)
    {
        if (endpoint is not IpcEndPoint { Address: var address })
            throw new NotSupportedException($"{endpoint} is no endpoint of ipc");
        cancellationToken.ThrowIfCancellationRequested();
        try
        {
            return new ValueTask<IConnectionListener>(new IpcConnectionListener(options.Value.Implementation.Listen(address), options.Value));
        }
        catch (IpcException e) when (e.Status == IpcStatus.NameInUse)
        {
            throw new AddressInUseException(e.Message, e);
        }
    }
}

/// <summary>Accepts clients until it is unbound.</summary>
internal sealed class IpcConnectionListener(IpcListener listener, IpcTransportOptions options) : IConnectionListener
{
    private readonly CancellationTokenSource _unbound = new();
    private readonly TimeSpan _pause = TimeSpan.FromMilliseconds(100);

    public EndPoint EndPoint { get; } = new IpcEndPoint(listener.Address);

    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _unbound.Token);
        while (true)
        {
            try
            {
                return new IpcConnection(await listener.AcceptAsync(either.Token).ConfigureAwait(false), EndPoint, options);
            }
            catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
            {
                return null;
            }
            catch (IpcException e) when (e.Status == IpcStatus.Closed)
            {
                return null;
            }
            // The system is short of something; whoever waits is served when it has it again. Kestrel stops listening when an accept fails.
            catch (IpcException)
            {
                await Task.Delay(_pause, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    public async ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        await _unbound.CancelAsync().ConfigureAwait(false);
        listener.Close();
    }

    public async ValueTask DisposeAsync()
    {
        await UnbindAsync(CancellationToken.None).ConfigureAwait(false);
        listener.Dispose();
        _unbound.Dispose();
    }
}
