namespace Ipc.Queues;

/// <summary>Creates publishers and subscribers in pure .NET, or through the C library: <c>new QueueFactory(NativeIpc.Instance)</c>.</summary>
public sealed class QueueFactory : IQueueFactory
{
    private readonly Func<string, IpcQueue> _open;

    /// <summary>Creates a factory in pure .NET.</summary>
    public QueueFactory() : this(ManagedIpc.Instance)
    {
    }

    /// <summary>Creates a factory over an implementation.</summary>
    /// <param name="implementation">The implementation that opens queues.</param>
    /// <exception cref="ArgumentNullException">The implementation is null.</exception>
    public QueueFactory(IIpc implementation) : this(address => implementation.OpenQueue(address)) => ArgumentNullException.ThrowIfNull(implementation);

    /// <summary>Creates a factory over a function that opens queues.</summary>
    /// <param name="open">Opens the queue of an address.</param>
    /// <exception cref="ArgumentNullException">The function is null.</exception>
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
