using System.Reflection;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>What both implementations offer beside the calls of the C ABI, over the C ABI: looking without waiting, time spans, .NET's exceptions,
/// adapters, and the health of a server.</summary>
[Trait("system", "linux")]
public class BoundSurfaceTests
{
    private const int Patience = 20_000;

    static BoundSurfaceTests() => BoundLibrary.Choose();

    public static TheoryData<string> Transports => ["unix", "tcp", "pipe", "fifo", "shm", "shm-event"];

    private static string NewAddress(string transport) => transport == "tcp" ? "tcp://0" : $"{transport}://conformance-surface-{Guid.NewGuid():N}";

    private static (IpcChannel Client, IpcChannel Server) Connect(string transport)
    {
        using var listener = NativeIpc.Listen(NewAddress(transport));
        var accepting = Task.Run(() => listener.Accept(TimeSpan.FromMilliseconds(Patience)));
        var client = NativeIpc.Connect(listener.Address, TimeSpan.FromMilliseconds(Patience));
        return (client, accepting.GetAwaiter().GetResult());
    }

    [Theory, MemberData(nameof(Transports))]
    public void LookingWithoutWaitingThrowsNothing(string transport)
    {
        var (client, server) = Connect(transport);
        using var first = client;
        using var second = server;
        var buffer = new byte[10];
        var thrown = 0;
        void Count(object? sender, System.Runtime.ExceptionServices.FirstChanceExceptionEventArgs e) =>
            thrown += e.Exception is IpcException { Status: IpcStatus.TimedOut } ? 1 : 0;
        AppDomain.CurrentDomain.FirstChanceException += Count;
        try
        {
            Assert.False(server.TryPeek(out var nothing));
            Assert.True(nothing.IsEmpty);
            Assert.False(server.TryReceive(buffer, out var none));
            Assert.Equal(0, none);
            Assert.False(server.TryPeek(out _, TimeSpan.FromMilliseconds(1)));
        }
        finally
        {
            AppDomain.CurrentDomain.FirstChanceException -= Count;
        }
        client.Send([1, 2, 3]);
        Assert.True(server.TryPeek(out var message, Patience));
        Assert.Equal([1, 2, 3], message.ToArray());
        server.Release();
        client.Send([4], Timeout.InfiniteTimeSpan);
        Assert.True(server.TryReceive(buffer, out var length, TimeSpan.FromMilliseconds(Patience)));
        Assert.Equal((1, 4), (length, buffer[0]));
        Assert.Equal(0, thrown);
    }

    [Theory, MemberData(nameof(Transports))]
    public void ATimeOutAndAClosedObjectAreSaidInDotNetsWordsToo(string transport)
    {
        var (client, server) = Connect(transport);
        using var second = server;
        Assert.IsType<TimeoutException>(Assert.Throws<IpcException>(() => client.Receive(new byte[1], 0)).InnerException);
        client.Dispose();
        Assert.IsType<ObjectDisposedException>(Assert.Throws<IpcException>(() => client.Receive(new byte[1])).InnerException);
    }

    [Theory, MemberData(nameof(Transports))]
    public async Task MessagesGoThroughChannelReadersAndWriters(string transport)
    {
        var (client, server) = Connect(transport);
        using var first = client;
        using var second = server;
        var (writer, reader) = (client.AsChannelWriter(), server.AsChannelReader());
        var writing = Task.Run(async () =>
        {
            for (var i = 0; i < 50; i++)
                await writer.WriteAsync(new byte[i * 500]);
            writer.Complete();
        });
        var lengths = new List<int>();
        await foreach (var message in reader.ReadAllAsync())
            lengths.Add(message.Length);
        await writing;
        Assert.Equal(Enumerable.Range(0, 50).Select(i => i * 500), lengths);
    }

    [Theory, MemberData(nameof(Transports))]
    public void AServerTellsItsHealth(string transport)
    {
        using var server = new IpcServer(NewAddress(transport), (_, _) => { }, new IpcServerOptions { Implementation = NativeIpc.Instance });
        using var client = NativeIpc.Connect(server.Address, Patience);
        client.Call([1], [], Patience);
        client.Call([1], [], Patience);
        Assert.True(SpinWait.SpinUntil(() => server.GetHealth().CallsServed == 2, Patience));
        var only = Assert.Single(server.GetHealth().Clients);
        Assert.Equal((1L, 2L, 0L), (only.Number, only.CallsServed, only.CallsFailed));
        Assert.Equal(transport is "unix" or "pipe" ? Environment.ProcessId : null, only.ProcessId);
    }

    [Fact]
    public void BothImplementationsHaveTheSameMembers()
    {
        static IEnumerable<string> MembersOf(Type type) =>
            type.GetMethods(BindingFlags.Public | BindingFlags.Static).Select(method => method.ToString()!).Order();
        Assert.Empty(MembersOf(typeof(ManagedIpc)).Except(MembersOf(typeof(NativeIpc))));
    }
}
