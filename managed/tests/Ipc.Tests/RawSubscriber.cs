namespace Ipc.Tests;

/// <summary>A subscriber of a broadcast, made by hand.</summary>
internal sealed unsafe class RawSubscriber : IDisposable
{
    public Descriptor Socket { get; }
    public Descriptor Data { get; }
    public MappedMemory Page { get; }
    public BroadcastGreeting Greeting { get; }

    public RawSubscriber(string text)
    {
        var name = LocalNames.InPrivateFolder(IpcAddress.Parse(text), "broadcast-");
        Socket = LocalSocket.Connect(name, new Deadline(Pair.Patience));
        var join = new BroadcastJoin { Magic = BroadcastLayout.JoinMagic, Version = 1, Policy = BroadcastLayout.PolicyWait, WaitsBy = 2 };
        Assert.Equal(0, DescriptorMessage.Send(Socket, &join, sizeof(BroadcastJoin), []));
        Assert.NotEqual(0, Libc.Poll(Socket, Libc.POLLIN, Pair.Patience));
        BroadcastGreeting greeting;
        Assert.Equal(sizeof(BroadcastGreeting), DescriptorMessage.Receive(Socket, &greeting, sizeof(BroadcastGreeting), out var files));
        Greeting = greeting;
        Assert.Equal(2, files.Length);
        Data = files[0];
        Page = SealedMemory.Map(files[1], BroadcastLayout.PageBytes, writable: true);
        files[1].Dispose();
    }

    public void Dispose()
    {
        Page.Dispose();
        Data.Dispose();
        Socket.Dispose();
    }
}
