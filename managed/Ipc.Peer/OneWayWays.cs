namespace Ipc.Peer;

// The ways to receive and to send of the one-way scenarios. A received message too long for its buffer fails with BufferTooSmall, which
// Failure.From tells as wrong content.

internal readonly struct ChannelSource(Channel channel, int length) : ISource
{
    private readonly byte[] _buffer = new byte[length];

    public readonly bool MayLose => false;
    public long Lost => 0;

    public ReadOnlySpan<byte> Next() => _buffer.AsSpan(0, channel.Receive(_buffer));
}

internal readonly struct QueueSource(MessageQueue queue, int length) : ISource
{
    private readonly byte[] _buffer = new byte[length];

    public readonly bool MayLose => false;
    public long Lost => 0;

    public ReadOnlySpan<byte> Next() => _buffer.AsSpan(0, queue.Dequeue(_buffer));
}

internal struct BatchSource(Channel channel, int length, int batch) : ISource
{
    private readonly byte[] _buffer = new byte[length * batch];
    private readonly int[] _lengths = new int[batch];
    private int _count;
    private int _at;
    private int _offset;

    public readonly bool MayLose => false;
    public readonly long Lost => 0;

    public ReadOnlySpan<byte> Next()
    {
        if (_at == _count)
            (_count, _at, _offset) = (channel.ReceiveBatch(_buffer, _lengths), 0, 0);
        var length = _lengths[_at++];
        var message = _buffer.AsSpan(_offset, length);
        _offset += length;
        return message;
    }
}

internal struct SubscriberSource(Subscriber subscriber, int length) : ISource
{
    private readonly byte[] _buffer = new byte[length];
    private long _lost;

    public readonly bool MayLose => true;
    public readonly long Lost => _lost;

    public ReadOnlySpan<byte> Next() => _buffer.AsSpan(0, subscriber.Receive(_buffer, out _lost));
}

internal readonly struct ChannelSink(Channel channel, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public Span<byte> Room => _message;
    public void Put() => channel.Send(_message);
    public void Flush()
    {
    }
}

internal readonly struct QueueSink(MessageQueue queue, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public Span<byte> Room => _message;
    public void Put() => queue.Enqueue(_message);
    public void Flush()
    {
    }
}

internal readonly struct PublishSink(Publisher publisher, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public Span<byte> Room => _message;
    public void Put() => publisher.Publish(_message);
    public void Flush()
    {
    }
}

internal struct BatchSink : ISink
{
    private readonly Channel _channel;
    private readonly int _length;
    private readonly byte[] _messages;
    private readonly int[] _lengths;
    private int _count;

    public BatchSink(Channel channel, int length, int batch)
    {
        (_channel, _length, _messages, _lengths) = (channel, length, new byte[length * batch], new int[batch]);
        Array.Fill(_lengths, length);
    }

    public readonly Span<byte> Room => _messages.AsSpan(_count * _length, _length);

    public void Put()
    {
        if (++_count == _lengths.Length)
            Flush();
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
