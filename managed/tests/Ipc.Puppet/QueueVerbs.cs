using System.Buffers.Binary;
using System.Globalization;

namespace Ipc.Puppet;

internal static class QueueVerbs
{
    private const int Longest = 300;
    private const int Patience = 20_000;

    private sealed class Tally
    {
        public ulong Count, Sum, Squares; // of the numbers; the squares modulo 2^64
        public uint Next;
    }

    public static void AddTo(Dictionary<string, Verb> verbs, IIpc side)
    {
        verbs.Add("open-queue", (handles, command) =>
        {
            var name = command.Word();
            handles.Add(name, side.OpenQueue(command.Word(), command.Timeout()));
            return "";
        });
        verbs.Add("remove-queue", (_, command) =>
        {
            side.RemoveQueue(command.Word());
            return "";
        });
        verbs.Add("queue-limit", (handles, command) => handles.Queue(command.Word()).MaxMessageLength.ToString(CultureInfo.InvariantCulture));
        verbs.Add("enqueue", Enqueue);
        verbs.Add("dequeue", Dequeue);
        verbs.Add("pour", Pour);
        verbs.Add("drain", Drain);
    }

    private static string Enqueue(Handles handles, Command command)
    {
        var queue = handles.Queue(command.Word());
        var message = command.Payload().Bytes();
        queue.Enqueue(message, command.Timeout());
        return "";
    }

    private static string Dequeue(Handles handles, Command command)
    {
        var queue = handles.Queue(command.Word());
        var buffer = new byte[command.Size()];
        var expected = command.Expected();
        var length = queue.Dequeue(buffer, command.Timeout());
        expected.RequireContent(buffer.AsSpan(0, length));
        return length.ToString(CultureInfo.InvariantCulture);
    }

    // A message that tells what it is and can be checked: who wrote it, its number, then bytes that follow from both.
    private static int LengthOf(uint writer, uint number) => 8 + (int)(((number * 7) + writer) % (Longest - 8));

    private static byte Content(uint writer, uint number, int at) =>
        (byte)(((number * 2654435761u) + (writer * 40503u) + ((uint)at * 131u)) >> 8);

    private static string Pour(Handles handles, Command command)
    {
        var queue = handles.Queue(command.Word());
        var (writer, count) = ((uint)command.Number(), (uint)command.Number());
        Span<byte> bytes = stackalloc byte[Longest];
        for (uint number = 0; number < count; number++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes, writer);
            BinaryPrimitives.WriteUInt32LittleEndian(bytes[4..], number);
            var length = LengthOf(writer, number);
            for (var at = 8; at < length; at++)
                bytes[at] = Content(writer, number, at);
            queue.Enqueue(bytes[..length], Patience);
        }
        return "";
    }

    private static string Drain(Handles handles, Command command)
    {
        var queue = handles.Queue(command.Word());
        var tallies = new SortedDictionary<uint, Tally>();
        Span<byte> bytes = stackalloc byte[Longest];
        while (true)
        {
            var length = queue.Dequeue(bytes, Patience);
            if (length == 1)
                break;
            var (writer, number) = (BinaryPrimitives.ReadUInt32LittleEndian(bytes), BinaryPrimitives.ReadUInt32LittleEndian(bytes[4..]));
            if (length != LengthOf(writer, number))
                throw new WrongException($"a message of {length} bytes");
            for (var at = 8; at < length; at++)
            {
                if (bytes[at] != Content(writer, number, at))
                    throw new WrongException("a torn message");
            }
            if (!tallies.TryGetValue(writer, out var tally))
                tallies.Add(writer, tally = new Tally());
            if (number < tally.Next)
                throw new WrongException($"message {number} out of order");
            tally.Next = number + 1;
            tally.Count++;
            tally.Sum += number;
            tally.Squares += (ulong)number * number;
        }
        return string.Join(" ", tallies.Select(t => FormattableString.Invariant($"{t.Key}:{t.Value.Count}:{t.Value.Sum}:{t.Value.Squares}")));
    }
}
