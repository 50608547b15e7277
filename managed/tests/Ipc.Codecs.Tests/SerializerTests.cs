using System.Buffers;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using MemoryPack;
using Messages = Ipc.Codecs.Messages;

namespace Ipc.Codecs.Tests;

/// <summary>The serializers of typed calls that are packages of their own, between an <see cref="IpcClient"/> and an <see cref="IpcServer"/>.</summary>
public sealed partial class SerializerTests
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(10);

    private static readonly ProtobufIpcSerializer s_protobuf = new(Messages.IpcReflection.Descriptor, StructReflection.Descriptor);
    private static readonly MemoryPackIpcSerializer s_memoryPack = new MemoryPackIpcSerializer().Register<Question>().Register<Answer>();

    [MemoryPackable]
    public sealed partial record Question(string Name, int Count);

    [MemoryPackable]
    public sealed partial record Answer(string[] Cells, Dictionary<string, int>? Places = null);

    private static string NewAddress(string transport) => $"{transport}://serializer-{Guid.NewGuid():N}?max=1M";

    // As a server is written that answers with objects.
    private static RequestHandler Handler<TRequest, TReply>(IIpcSerializer serializer, Func<TRequest, TReply> answer) => (request, reply) =>
    {
        var bytes = new ArrayBufferWriter<byte>();
        serializer.Serialize(answer(serializer.Deserialize<TRequest>(request)), bytes);
        bytes.WrittenSpan.CopyTo(reply.Reserve(bytes.WrittenCount));
    };

    private static string[] Cells(string name, int count) => [.. Enumerable.Range(0, count).Select(i => $"{name} {i} €")];

    private static async Task<TReply> Ask<TRequest, TReply>(IpcClient client, TRequest request) =>
        await client.CallAsync<TRequest, TReply>(request).AsTask().WaitAsync(s_patience);

    // What both serializers owe: answers small and large, a handler that fails, messages over the limit each way, bytes that are something else each way;
    // and after each of these the same connection answers.
    private static async Task AssertCalls<TRequest, TReply>(
        string transport, IIpcSerializer serializer, Func<string, int, TRequest> ask, Func<TRequest, TReply> answer, Func<TReply, IEnumerable<string>> cells)
    {
        byte[]? instead = null;
        var handler = Handler(serializer, answer);
        using var server = new IpcServer(NewAddress(transport), (request, reply) =>
        {
            if (instead is null)
                handler(request, reply);
            else
                instead.CopyTo(reply.Reserve(instead.Length));
        });
        using var client = new IpcClient(server.Address, new IpcClientOptions { Serializer = serializer });
        async Task Works(int count)
        {
            var reply = await Ask<TRequest, TReply>(client, ask("cell", count));
            Assert.Equal(Cells("cell", count), cells(reply));
        }
        foreach (var count in new[] { 0, 3, 20_000, 1 })
            await Works(count);

        var large = await Assert.ThrowsAsync<IpcException>(() => Ask<TRequest, TReply>(client, ask(new string('x', 2 << 20), 1)));
        Assert.Equal(IpcStatus.MessageTooLarge, large.Status);
        await Works(2);

        var largeReply = await Assert.ThrowsAsync<IpcException>(() => Ask<TRequest, TReply>(client, ask("cell", 500_000)));
        Assert.Equal(IpcStatus.HandlerFailed, largeReply.Status);
        Assert.Contains("limit", largeReply.Message, StringComparison.Ordinal);
        await Works(2);

        instead = [2, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f];
        var badReply = await Assert.ThrowsAsync<IpcException>(() => Ask<TRequest, TReply>(client, ask("cell", 1)));
        Assert.Equal(IpcStatus.NotOurProtocol, badReply.Status);
        Assert.Matches($"^the peer's 8 bytes do not read as (type|message) {typeof(TReply).Name} in ", badReply.Message);
        Assert.NotNull(badReply.InnerException);
        instead = null;
        await Works(2);

        var buffer = new byte[100];
        var badRequest = await Assert.ThrowsAsync<IpcException>(() =>
            client.CallAsync(new byte[] { 2, 0x7f, 0x7f, 0x7f }, buffer).AsTask().WaitAsync(s_patience));
        Assert.Equal(IpcStatus.HandlerFailed, badRequest.Status);
        Assert.Matches($"the peer's 4 bytes do not read as (type|message) {typeof(TRequest).Name} in ", badRequest.Message);
        await Works(2);
        Assert.Equal(1, server.GetHealth().ClientsAccepted);
    }

    [Theory]
    [InlineData("unix")]
    [InlineData("shm")]
    [Trait("system", "linux")]
    public Task MemoryPackCarriesCalls(string transport) => AssertCalls<Question, Answer>(transport, s_memoryPack,
        (name, count) => new Question(name, count), question => new Answer(Cells(question.Name, question.Count)), reply => reply.Cells);

    [Theory]
    [InlineData("unix")]
    [InlineData("shm")]
    [Trait("system", "linux")]
    public Task ProtobufCarriesCalls(string transport) => AssertCalls<Messages.Request, Messages.Reply>(transport, s_protobuf,
        (name, count) => new Messages.Request { Name = name, Sequence = (ulong)count },
        request => new Messages.Reply { Cells = { Cells(request.Name, (int)request.Sequence) } }, reply => reply.Cells);

    [Fact]
    [Trait("system", "linux")]
    public async Task TheHandlerOfTheLibraryTakesThem()
    {
        using var listener = ManagedIpc.Listen(NewAddress("unix"));
        using var client = new IpcClient(listener.Address, new IpcClientOptions { Serializer = s_protobuf });
        var serving = Task.Run(async () =>
        {
            using var channel = await listener.AcceptAsync();
            await channel.ServeAsync(s_protobuf.Handler<Messages.Request, Messages.Reply>((request, _) =>
                new(new Messages.Reply { Sequence = request.Sequence })));
        });
        Assert.Equal(7u, (await Ask<Messages.Request, Messages.Reply>(client, new Messages.Request { Sequence = 7 })).Sequence);
        client.Dispose();
        await serving.WaitAsync(s_patience);
    }

    [Fact]
    public void DamagedBytesOnlyEverGiveTheLibrarysException()
    {
        var answer = new Answer(Cells("cell", 5), new Dictionary<string, int> { ["one"] = 1, ["two"] = 2, ["six"] = 6 });
        AssertDamageIsNoticed(s_memoryPack, answer);
        AssertDamageIsNoticed(s_protobuf, new Messages.Reply { Sequence = 1, Columns = 5, Cells = { Cells("cell", 5) } });
        AssertDamageIsNoticed(s_protobuf, Struct.Parser.ParseJson("""{ "a": [1, "b", { "c": null }], "d": { "e": { "f": true } } }"""));
    }

    private static void AssertDamageIsNoticed<T>(IIpcSerializer serializer, T value)
    {
        var bytes = new ArrayBufferWriter<byte>();
        serializer.Serialize(value, bytes);
        var whole = bytes.WrittenSpan.ToArray();
        var (random, refused) = (new Random(18), 0);
        for (var round = 0; round < 20_000; round++)
        {
            var damaged = whole[..random.Next(round % 2 == 0 ? whole.Length : 0, whole.Length + 1)];
            for (var flips = random.Next(4); flips > 0 && damaged.Length > 0; flips--)
                damaged[random.Next(damaged.Length)] = (byte)random.Next(256);
            try
            {
                serializer.Deserialize<T>(damaged);
            }
            catch (IpcException e)
            {
                Assert.Equal(IpcStatus.NotOurProtocol, e.Status);
                refused++;
            }
        }
        Assert.True(refused > 1000, $"only {refused} of 20000 damaged messages were refused");
    }

    [Fact]
    public void BytesBehindAnObjectAreRefused()
    {
        var bytes = new ArrayBufferWriter<byte>();
        s_memoryPack.Serialize(new Question("cell", 1), bytes);
        bytes.Write<byte>([0]);
        var e = Assert.Throws<IpcException>(() => s_memoryPack.Deserialize<Question>(bytes.WrittenSpan));
        Assert.Contains($"the peer sent {bytes.WrittenCount} bytes, of which type Question takes {bytes.WrittenCount - 1} in MemoryPack", e.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void KeysThatComeTwiceAreRefused()
    {
        var bytes = new ArrayBufferWriter<byte>();
        s_memoryPack.Serialize(new[] { new KeyValuePair<int, int>(1, 1), new KeyValuePair<int, int>(1, 2) }, bytes);
        Assert.Equal(IpcStatus.NotOurProtocol,
            Assert.Throws<IpcException>(() => s_memoryPack.Deserialize<Dictionary<int, int>>(bytes.WrittenSpan)).Status);
    }

    [Fact]
    public void MessagesNestedTooDeepAreRefused()
    {
        var value = Value.ForNull();
        for (var depth = 0; depth < 100; depth++)
            value = Value.ForList(value);
        var e = Assert.Throws<IpcException>(() => s_protobuf.Deserialize<Value>(value.ToByteArray()));
        Assert.Equal(IpcStatus.NotOurProtocol, e.Status);
    }

    [Fact]
    public void ProtobufSaysWhichFileIsMissing()
    {
        var narrow = new ProtobufIpcSerializer(Messages.IpcReflection.Descriptor);
        foreach (var attempt in new Action[] { () => narrow.Deserialize<Value>([]), () => narrow.Serialize(new Value(), new ArrayBufferWriter<byte>()),
            () => narrow.Deserialize<string>([]) })
        {
            Assert.Contains("the descriptor of its .proto file", Assert.Throws<NotSupportedException>(attempt).Message, StringComparison.Ordinal);
        }
        Assert.Contains("PricesReflection.Descriptor", Assert.Throws<ArgumentException>(() => new ProtobufIpcSerializer()).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void WritingTakesNoMemory()
    {
        AssertWritesWithoutMemory(s_memoryPack, new Answer(Cells("cell", 50)));
        AssertWritesWithoutMemory(s_protobuf, new Messages.Reply { Cells = { Cells("cell", 50) } });
    }

    private static void AssertWritesWithoutMemory<T>(IIpcSerializer serializer, T value)
    {
        var bytes = new ArrayBufferWriter<byte>(1 << 16);
        void Write(int times)
        {
            for (; times > 0; times--)
            {
                bytes.ResetWrittenCount();
                serializer.Serialize(value, bytes);
            }
        }
        Write(100);
        var before = GC.GetAllocatedBytesForCurrentThread();
        Write(1000);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 999); // less than a byte each
    }
}
