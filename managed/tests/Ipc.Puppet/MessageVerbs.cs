using System.Globalization;

namespace Ipc.Puppet;

internal static class MessageVerbs
{
    public static void AddTo(Dictionary<string, Verb> verbs)
    {
        verbs.Add("send", Send);
        verbs.Add("receive", Receive);
        verbs.Add("reserve", Reserve);
        verbs.Add("commit", Commit);
        verbs.Add("cancel", Cancel);
        verbs.Add("peek", Peek);
        verbs.Add("release", Release);
        verbs.Add("send-many", (handles, command) => Many(handles, command, SendOne));
        verbs.Add("receive-many", (handles, command) => Many(handles, command, ReceiveOne));
        verbs.Add("send-batches", SendBatches);
        verbs.Add("receive-batches", ReceiveBatches);
    }

    private static string Send(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Payload();
        channel.Send(message.Bytes(), command.Timeout());
        return "";
    }

    private static string Receive(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var buffer = new byte[command.Size()];
        var message = command.Expected();
        var length = channel.Receive(buffer, command.Timeout());
        message.RequireContent(buffer.AsSpan(0, length));
        return length.ToString(CultureInfo.InvariantCulture);
    }

    private static string Reserve(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var length = command.Size();
        var message = command.Payload();
        var room = channel.Reserve(length, command.Timeout());
        if (room.Length != length)
            throw new WrongException($"asked for {length} bytes, got room for {room.Length}");
        message.Fill(room);
        return "";
    }

    private static string Commit(Handles handles, Command command)
    {
        handles.Channel(command.Word()).Commit(command.Size(), command.Timeout());
        return "";
    }

    private static string Cancel(Handles handles, Command command)
    {
        handles.Channel(command.Word()).Cancel();
        return "";
    }

    private static string Peek(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Expected();
        var bytes = channel.Peek(command.Timeout());
        message.RequireContent(bytes);
        return bytes.Length.ToString(CultureInfo.InvariantCulture);
    }

    private static string Release(Handles handles, Command command)
    {
        handles.Channel(command.Word()).Release();
        return "";
    }

    private sealed record Series(IpcChannel Channel, ulong Count, int Most, ulong Seed, int Timeout, bool Loan);

    private static string Many(Handles handles, Command command, Action<Series, Payload, byte[]> step)
    {
        var series = new Series(handles.Channel(command.Word()), command.Number(), command.Size(), command.Number(),
            command.Timeout(), command.Loan());
        var buffer = new byte[series.Most];
        long bytes = 0;
        for (ulong i = 1; i <= series.Count; i++)
        {
            var message = Payload.OfSeries(series.Seed, i, series.Most);
            step(series, message, buffer);
            bytes += message.Length;
        }
        return bytes.ToString(CultureInfo.InvariantCulture);
    }

    private static void SendOne(Series series, Payload message, byte[] buffer)
    {
        if (series.Loan)
        {
            message.Fill(series.Channel.Reserve(message.Length, series.Timeout));
            series.Channel.Commit(message.Length, series.Timeout);
            return;
        }
        message.Fill(buffer);
        series.Channel.Send(buffer.AsSpan(0, message.Length), series.Timeout);
    }

    private static void ReceiveOne(Series series, Payload message, byte[] buffer)
    {
        if (series.Loan)
        {
            message.Require(series.Channel.Peek(series.Timeout));
            series.Channel.Release();
            return;
        }
        var length = series.Channel.Receive(buffer, series.Timeout);
        message.Require(buffer.AsSpan(0, length));
    }

    private static string SendBatches(Handles handles, Command command)
    {
        var (channel, count, most, seed, timeout) = (handles.Channel(command.Word()), command.Number(), command.Size(), command.Number(), command.Timeout());
        long bytes = 0;
        for (ulong i = 1; i <= count;)
        {
            var batch = new List<byte>();
            var lengths = new List<int>();
            for (; i <= count && lengths.Count < 64; i++)
            {
                var message = Payload.OfSeries(seed, i, most).Bytes();
                batch.AddRange(message);
                lengths.Add(message.Length);
            }
            var sent = channel.SendBatch(batch.ToArray(), lengths.ToArray(), timeout);
            if (sent != lengths.Count)
                throw new WrongException($"{sent} of a batch of {lengths.Count} messages went out within the time-out");
            bytes += batch.Count;
        }
        return bytes.ToString(CultureInfo.InvariantCulture);
    }

    private static string ReceiveBatches(Handles handles, Command command)
    {
        var (channel, count, most, seed, timeout) = (handles.Channel(command.Word()), command.Number(), command.Size(), command.Number(), command.Timeout());
        var buffer = new byte[50 * most];
        var lengths = new int[50];
        long bytes = 0;
        for (ulong i = 1; i <= count;)
        {
            var taken = channel.ReceiveBatch(buffer, lengths, timeout);
            var at = 0;
            for (var j = 0; j < taken; j++, i++)
            {
                Payload.OfSeries(seed, i, most).Require(buffer.AsSpan(at, lengths[j]));
                at += lengths[j];
            }
            bytes += at;
        }
        return bytes.ToString(CultureInfo.InvariantCulture);
    }
}
