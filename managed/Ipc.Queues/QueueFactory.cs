namespace Ipc.Queues;

/// <summary>Makes publishers and subscribers in pure .NET, or by whatever opens queues: <c>new QueueFactory(address => NativeIpc.OpenQueue(address))</c>
/// takes the C library.</summary>
public sealed class QueueFactory : IQueueFactory
{
    private readonly Func<string, MessageQueue> _open;

    /// <summary>A factory in pure .NET.</summary>
    public QueueFactory() : this(address => ManagedIpc.OpenQueue(address))
    {
    }

    /// <summary>A factory over another way to open the queue of an address.</summary>
    public QueueFactory(Func<string, MessageQueue> open)
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
