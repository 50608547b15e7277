namespace Ipc.Queues;

/// <summary>Creates publishers and subscribers of named queues. Any thread may use it.</summary>
public interface IQueueFactory
{
    /// <summary>Opens a queue to put messages in, and creates it if it does not exist.</summary>
    /// <param name="options">The name and the size of the queue.</param>
    /// <returns>The publisher, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The options are null.</exception>
    /// <exception cref="IpcException">As for <see cref="IIpc.OpenQueue(string, int)"/>.</exception>
    IPublisher CreatePublisher(QueueOptions options);

    /// <summary>Opens a queue to take messages out, and creates it if it does not exist.</summary>
    /// <param name="options">The name and the size of the queue.</param>
    /// <returns>The subscriber, which the caller disposes.</returns>
    /// <exception cref="ArgumentNullException">The options are null.</exception>
    /// <exception cref="IpcException">As for <see cref="IIpc.OpenQueue(string, int)"/>.</exception>
    ISubscriber CreateSubscriber(QueueOptions options);
}
