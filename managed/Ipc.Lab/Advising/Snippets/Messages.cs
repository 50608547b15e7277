namespace Ipc.Lab.Advising.Snippets;

/// <summary>What `ipc advise` prints for messages one way over a channel; compiled here so that it always compiles.</summary>
internal static class Messages
{
    public static void Server()
    {
        // server
        using var listener = ManagedIpc.Listen("shm://orders");
        using var sender = listener.Accept();
        var message = new byte[64 * 1024];
        var length = sender.Receive(message);   // again and again; IpcException with IpcStatus.PeerClosed ends it
        // end
        _ = length;
    }

    public static void Client()
    {
        // client
        using var receiver = ManagedIpc.Connect("shm://orders", timeoutMilliseconds: 1000);
        receiver.Send("message"u8);
        // end
    }
}
