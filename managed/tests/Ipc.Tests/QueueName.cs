using System.Buffers.Binary;
using System.Text;

namespace Ipc.Tests;

/// <summary>A queue's name nobody else has; the queue goes with this object.</summary>
internal sealed class QueueName : IDisposable
{
    private readonly string _name = $"test-{Guid.NewGuid():N}";

    public string Path => $"{LocalNames.MemoryFolder}/queue-{_name}";

    public string Address(string options = "") => $"queue://{_name}{(options.Length > 0 ? "?" : "")}{options}";

    public string Name => _name;

    public IpcQueue Open(string options = "") => ManagedIpc.OpenQueue(Address(options), Pair.Patience);

    /// <summary>A hand on the memory itself, as a participant of its own.</summary>
    public QueueFile OpenFile() => QueueFile.Open(Ipc.IpcAddress.Parse(Address()), QueueLayout.SmallestSize, new Deadline(Timeout.Infinite));

    /// <summary>The next message as text; null after the time-out.</summary>
    public static string? Take(IpcQueue queue, int timeoutMilliseconds = 0)
    {
        var buffer = new byte[4096];
        return queue.TryDequeue(buffer, out var length, timeoutMilliseconds) ? Encoding.UTF8.GetString(buffer, 0, length) : null;
    }

    public static unsafe uint Get(QueueFile file, int word) => Volatile.Read(ref *(uint*)(file.Memory + word));
    public static unsafe void Set(QueueFile file, int word, uint value) => Volatile.Write(ref *(uint*)(file.Memory + word), value);

    public void Dispose() => File.Delete(Path);
}

/// <summary>A message that tells what it is and can be checked: who wrote it, its number, then bytes that follow from both.</summary>
internal readonly record struct NumberedMessage(uint Writer, uint Number)
{
    public const int Longest = 300;

    private int Length => 8 + (int)((Number * 7 + Writer) % (Longest - 8));
    private byte Content(int at) => (byte)((Number * 2654435761u + Writer * 40503u + (uint)at * 131u) >> 8);

    public int Write(Span<byte> to)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(to, Writer);
        BinaryPrimitives.WriteUInt32LittleEndian(to[4..], Number);
        for (var at = 8; at < Length; at++)
            to[at] = Content(at);
        return Length;
    }

    public static NumberedMessage Read(ReadOnlySpan<byte> from)
    {
        var message = new NumberedMessage(BinaryPrimitives.ReadUInt32LittleEndian(from), BinaryPrimitives.ReadUInt32LittleEndian(from[4..]));
        Assert.Equal(message.Length, from.Length);
        for (var at = 8; at < from.Length; at++)
            Assert.Equal(message.Content(at), from[at]);
        return message;
    }
}
