namespace Ipc.Tests.CallOrders;

/// <summary>Both ends of one connection, and ways to kill or stop the client where a test can have them without a process.</summary>
internal sealed class Connection : IDisposable
{
    private readonly Pair? _pair;
    private readonly SharedMemoryEnds? _ends;

    public static string[] Transports { get; } = [.. Pair.Transports.AsEnumerable<object[]>().Select(row => (string)row[0])];

    public EndModel Client { get; }
    public EndModel Server { get; }

    public Connection(string transport)
    {
        var parts = transport.Split("?wait=");
        var oneBlock = parts[0] == "shm-event";
        if (parts.Length == 2)
            _ends = new SharedMemoryEnds(!oneBlock, slots: 512, wait: parts[1]);
        else
            _pair = new Pair(transport);
        Client = new EndModel(_pair?.Client ?? _ends!.Client, "client") { OneBlock = oneBlock };
        Server = new EndModel(_pair?.Server ?? _ends!.Server, "server") { OneBlock = oneBlock };
        (Client.Peer, Server.Peer) = (Server, Client);
    }

    public bool CanKill => _ends is not null;

    public void KillClient()
    {
        _ends!.KillClient();
        Client.Killed = true;
    }

    /// <summary>The client begins a frame and never goes on: a reply to the call that the server may make next.</summary>
    public bool TryStopClient()
    {
        if (_ends is null || Client.OneBlock || Client.IsGone || Client.HasSent || Server.IsGone || Server.CallId != 0)
            return false;
        var writer = new ShmRingWriter(_ends.ClientSegment);
        Assert.Equal(WaitResult.Ready, writer.WaitForData(1000, new Deadline(0)));
        writer.PutTotal(40_000);
        writer.PublishInData((uint)FrameKind.Reply | ShmRingMemory.More, 1, 1000);
        return Client.Stopped = true;
    }

    public void Dispose()
    {
        _pair?.Dispose();
        _ends?.Dispose();
    }
}
