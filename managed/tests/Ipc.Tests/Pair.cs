namespace Ipc.Tests;

/// <summary>A listener and one connection through it, both ends in this process, under a name nobody else has.</summary>
internal sealed class Pair : IDisposable
{
    /// <summary>Long enough for a loaded machine, short enough that a hang is noticed.</summary>
    public const int Patience = 30_000;

    /// <summary>Every transport, the shared-memory ones once for each way of waiting.</summary>
    public static TheoryData<string> Transports =>
        ["unix", "tcp", "pipe", "fifo", "shm?wait=adaptive", "shm?wait=spin", "shm?wait=block", "shm-event?wait=block", "shm-event?wait=adaptive",
            "shm-event?wait=spin"];

    public IpcListener Listener { get; }
    public IpcChannel Server { get; }
    public IpcChannel Client { get; }
    public string Address => Listener.Address;

    /// <param name="transport">A transport with options, as in <see cref="Transports"/>.</param>
    /// <param name="options">More options for both ends: <c>max=1k&amp;size=64k</c>.</param>
    public Pair(string transport, string options = "")
    {
        Listener = ManagedIpc.Listen(NewAddress(transport, options));
        var connecting = Aside.Run(() => ManagedIpc.Connect(Listener.Address, Patience));
        Server = Listener.Accept(Patience);
        Client = connecting.Join();
    }

    public static string NewAddress(string transport, string options = "")
    {
        var parts = transport.Split('?');
        var all = string.Join('&', parts.Skip(1).Append(options).Where(o => o.Length > 0));
        var name = parts[0] == "tcp" ? "0" : $"test-{Guid.NewGuid():N}";
        return $"{parts[0]}://{name}{(all.Length > 0 ? "?" : "")}{all}";
    }

    public void Dispose()
    {
        Client.Dispose();
        Server.Dispose();
        Listener.Dispose();
    }

    /// <summary>Bytes that differ from each other and from other seeds'.</summary>
    public static byte[] Bytes(int length, int seed = 1)
    {
        var bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    /// <summary>The status an action fails with; an error message must come along.</summary>
    public static IpcStatus StatusOf(Action action)
    {
        var failure = Assert.Throws<IpcException>(action);
        Assert.True(failure.Message.Length > 10, $"no error message: '{failure.Message}'");
        return failure.Status;
    }

    /// <summary>Waits for something another thread does.</summary>
    public static void Until(Func<bool> condition)
    {
        var end = Environment.TickCount64 + Patience;
        while (!condition())
        {
            Assert.True(Environment.TickCount64 < end, "what was waited for did not happen");
            Thread.Sleep(1);
        }
    }
}
