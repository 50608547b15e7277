namespace Ipc;

/// <summary>Is told of what the system reports while no thread of its own waits for that. On a thread of others: must not wait.</summary>
internal interface IReadyTarget
{
    /// <param name="events">Of a descriptor, those of epoll; 0 where there is only one.</param>
    void Ready(uint events);
}
