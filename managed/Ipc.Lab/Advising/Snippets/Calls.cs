namespace Ipc.Lab.Advising.Snippets;

/// <summary>What `ipc advise` prints for calls; compiled here so that it always compiles.</summary>
internal static class Calls
{
    public static void Server()
    {
        // server
        using var listener = ManagedIpc.Listen("shm://orders");
        using var client = listener.Accept();   // one client; a thread for each further one
        client.Serve((request, reply) => request.CopyTo(reply.Reserve(request.Length)));
        // end
    }

    public static void Client()
    {
        // client
        using var server = ManagedIpc.Connect("shm://orders", timeoutMilliseconds: 1000);
        var answer = new byte[64 * 1024];
        var length = server.Call("request"u8, answer, timeoutMilliseconds: 1000);
        // end
        _ = length;
    }
}
