namespace Ipc.Tests;

/// <summary>Both ends of one mapping, with a hand on the client's socket and on the memory itself.</summary>
internal sealed class SharedMemoryEnds : IDisposable
{
    private readonly LocalListener _listener;

    public Descriptor ClientSocket { get; }
    public SharedMemorySegment ClientSegment { get; }
    public SharedMemorySegment ServerSegment { get; }
    public IpcChannel Client { get; }
    public IpcChannel Server { get; }

    public SharedMemoryEnds(bool rings, string options = "", ulong firstSlot = 0, ulong firstData = 0, uint slots = 16, string wait = "block")
    {
        var address = IpcAddress.Parse($"{(rings ? "shm" : "shm-event")}://test-{Guid.NewGuid():N}?wait={wait}{options}");
        var name = LocalNames.InPrivateFolder(address, "shm-");
        var layout = rings ? SharedMemoryLayout.Slots : SharedMemoryLayout.Event;
        var policy = WaitPolicy.Of(address);
        SharedMemorySegment? offered = null;
        _listener = LocalListener.Open(name, connection =>
        {
            offered = SharedMemoryHandover.Offer(new SocketPeer(connection, null), layout, rings ? slots : 0, 64 * 1024, policy)!;
            return Over(offered);
        });
        ClientSocket = LocalSocket.Connect(name, new Deadline(Pair.Patience));
        Server = _listener.Accept(Pair.Patience);
        ServerSegment = offered!;
        ClientSegment = SharedMemoryHandover.TakeUp(new SocketPeer(ClientSocket, name), layout, policy, name.Address, new Deadline(Pair.Patience));
        Client = Over(ClientSegment);

        IpcChannel Over(SharedMemorySegment segment) => rings
            ? new ShmChannel(segment, address.MaxMessageLength, "test", firstSlot, firstData)
            : new ShmEventChannel(segment, address.MaxMessageLength, "test");
    }

    /// <summary>What the kernel does when a process is killed: its end of the socket goes, and nothing else happens.</summary>
    public void KillClient() => LocalSocket.ShutDown(ClientSocket);

    public void Dispose()
    {
        Client.Dispose();
        Server.Dispose();
        _listener.Dispose();
    }
}
