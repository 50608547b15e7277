namespace Ipc.Peer;

// The ways to receive and to send of the one-way scenarios. A received message too long for its buffer fails with BufferTooSmall, which
// Failure.From tells as wrong content.

/// <summary>Where a source that receives one message at a time has it.</summary>
internal readonly struct OneMessage(int length)
{
    private readonly int[] _lengths = new int[1];

    public byte[] Buffer { get; } = new byte[length];

    public Received Received(int length)
    {
        _lengths[0] = length;
        return new(Buffer.AsSpan(0, length), _lengths);
    }
}

internal readonly struct ChannelSource(IpcChannel channel, int length) : ISource
{
    private readonly OneMessage _message = new(length);

    public readonly bool MayLose => false;
    public long Lost => 0;

    public Received Next(long most) => _message.Received(channel.Receive(_message.Buffer));

    public readonly void Use(int count)
    {
    }
}

internal readonly struct QueueSource(IpcQueue queue, int length) : ISource
{
    private readonly OneMessage _message = new(length);

    public readonly bool MayLose => false;
    public long Lost => 0;

    public Received Next(long most) => _message.Received(queue.Dequeue(_message.Buffer));

    public readonly void Use(int count)
    {
    }
}

internal struct BatchSource(IpcChannel channel, int length, int batch) : ISource
{
    private readonly byte[] _buffer = new byte[length * batch];
    private readonly int[] _lengths = new int[batch];
    private int _count;
    private int _at;

    public readonly bool MayLose => false;
    public readonly long Lost => 0;

    public Received Next(long most)
    {
        if (_at == _count)
            (_count, _at) = (channel.ReceiveBatch(_buffer, _lengths), 0);
        return new(_buffer.AsSpan(_at * length), _lengths.AsSpan(_at, (int)Math.Min(most, _count - _at)));
    }

    public void Use(int count) => _at += count;
}

internal struct SubscriberSource(Subscriber subscriber, int length) : ISource
{
    private readonly OneMessage _message = new(length);
    private long _lost;

    public readonly bool MayLose => true;
    public readonly long Lost => _lost;

    public Received Next(long most) => _message.Received(subscriber.Receive(_message.Buffer, out _lost));

    public readonly void Use(int count)
    {
    }
}

internal readonly struct ChannelSink(IpcChannel channel, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public int Put(MessagePattern pattern, ulong head, int most)
    {
        pattern.Write(_message, head);
        channel.Send(_message);
        return 1;
    }

    public void Flush()
    {
    }
}

internal readonly struct QueueSink(IpcQueue queue, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public int Put(MessagePattern pattern, ulong head, int most)
    {
        pattern.Write(_message, head);
        queue.Enqueue(_message);
        return 1;
    }

    public void Flush()
    {
    }
}

internal readonly struct PublishSink(Publisher publisher, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public int Put(MessagePattern pattern, ulong head, int most)
    {
        pattern.Write(_message, head);
        publisher.Publish(_message);
        return 1;
    }

    public void Flush()
    {
    }
}

internal struct BatchSink : ISink
{
    private readonly IpcChannel _channel;
    private readonly int _length;
    private readonly byte[] _messages;
    private readonly int[] _lengths;
    private int _count;

    public BatchSink(IpcChannel channel, int length, int batch)
    {
        (_channel, _length, _messages, _lengths) = (channel, length, new byte[length * batch], new int[batch]);
        Array.Fill(_lengths, length);
    }

    public int Put(MessagePattern pattern, ulong head, int most)
    {
        var count = Math.Min(most, _lengths.Length - _count);
        pattern.WriteMany(_messages.AsSpan(_count * _length), count, head);
        _count += count;
        if (_count == _lengths.Length)
            Flush();
        return count;
    }

    public void Flush()
    {
        if (_count == 0)
            return;
        var sent = _channel.SendBatch(_messages.AsSpan(0, _count * _length), _lengths.AsSpan(0, _count));
        if (sent != _count)
        {
            throw new Failure(
                "SYSTEM", $"a batch of {_count} messages went out only up to message {sent} although it may wait: the transport is wrong");
        }
        _count = 0;
    }
}
