using Ipc.Native;

namespace Ipc.Benchmarks;

/// <summary>Both ends of one `shm` connection in this process.</summary>
internal sealed class Ends : IDisposable
{
    private static int s_number;

    public Ends(string side, string options)
    {
        var address = $"shm://bench-{Environment.ProcessId}-{Interlocked.Increment(ref s_number)}?{options}";
        using var listener = side == "bound" ? NativeIpc.Listen(address) : ManagedIpc.Listen(address);
        var connecting = Task.Run(() => side == "bound" ? NativeIpc.Connect(address, 5000) : ManagedIpc.Connect(address, 5000));
        Server = listener.Accept(5000);
        Client = connecting.GetAwaiter().GetResult();
    }

    public IpcChannel Server { get; }
    public IpcChannel Client { get; }

    public void Dispose()
    {
        Client.Dispose();
        Server.Dispose();
    }
}
