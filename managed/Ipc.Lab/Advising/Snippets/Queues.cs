namespace Ipc.Lab.Advising.Snippets;

/// <summary>What `ipc advise` prints for messages one way over a queue; compiled here so that it always compiles.</summary>
internal static class Queues
{
    public static void Server()
    {
        // server
        using var incoming = ManagedIpc.OpenQueue("shm://orders");
        var message = new byte[64 * 1024];
        var length = incoming.Dequeue(message);   // again and again
        // end
        _ = length;
    }

    public static void Client()
    {
        // client
        using var outgoing = ManagedIpc.OpenQueue("shm://orders");
        outgoing.Enqueue("message"u8);
        // end
    }
}
