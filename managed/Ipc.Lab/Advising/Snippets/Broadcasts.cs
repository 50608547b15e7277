namespace Ipc.Lab.Advising.Snippets;

/// <summary>What `ipc advise` prints for broadcasts; compiled here so that it always compiles.</summary>
internal static class Broadcasts
{
    public static void Server()
    {
        // server
        using var publisher = ManagedIpc.Publish("shm://orders");
        publisher.Publish("message"u8);
        // end
    }

    public static void Client()
    {
        // client
        using var subscriber = ManagedIpc.Subscribe("shm://orders", timeoutMilliseconds: 1000);
        var message = new byte[64 * 1024];
        var length = subscriber.Receive(message, out var lost);   // again and again
        // end
        _ = (length, lost);
    }
}
