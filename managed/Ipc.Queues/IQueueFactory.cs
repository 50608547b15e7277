namespace Ipc.Queues;

/// <summary>Makes publishers and subscribers of named queues. Any thread may use it.</summary>
public interface IQueueFactory
{
    /// <summary>Opens the queue for putting messages in, making it if there is none. Failures are <see cref="IpcException"/>s.</summary>
    IPublisher CreatePublisher(QueueOptions options);

    /// <summary>Opens the queue for taking messages out, making it if there is none. Failures are <see cref="IpcException"/>s.</summary>
    ISubscriber CreateSubscriber(QueueOptions options);
}
