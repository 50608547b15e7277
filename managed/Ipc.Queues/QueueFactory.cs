namespace Ipc.Queues;

/// <summary>Makes publishers and subscribers in pure .NET, or by the C library: <c>new QueueFactory(NativeIpc.Instance)</c>.</summary>
public sealed class QueueFactory : IQueueFactory
{
    private readonly Func<string, IpcQueue> _open;

    /// <summary>A factory in pure .NET.</summary>
    public QueueFactory() : this(ManagedIpc.Instance)
    {
    }

    /// <summary>A factory over one of the two implementations.</summary>
    public QueueFactory(IIpc implementation) : this(address => implementation.OpenQueue(address)) => ArgumentNullException.ThrowIfNull(implementation);

    /// <summary>A factory over another way to open the queue of an address.</summary>
    public QueueFactory(Func<string, IpcQueue> open)
    {
        ArgumentNullException.ThrowIfNull(open);
        _open = open;
    }

    /// <inheritdoc/>
    public IPublisher CreatePublisher(QueueOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        return new QueuePublisher(_open(options.Address));
    }

    /// <inheritdoc/>
    public ISubscriber CreateSubscriber(QueueOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        return new QueueSubscriber(_open(options.Address));
    }
}
