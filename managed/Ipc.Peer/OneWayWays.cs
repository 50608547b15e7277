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
    private readonly byte[] _buffer = new byte[(long)length * batch];
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

    /// <summary>Where the message lies that was given last.</summary>
    public readonly byte[] Buffer => _message.Buffer;

    public Received Next(long most) => _message.Received(subscriber.Receive(_message.Buffer, out _lost));

    public readonly void Use(int count)
    {
    }
}

/// <summary>Pauses after every hundred messages.</summary>
internal struct SlowSource(Subscriber subscriber, int length, TimeSpan pause) : ISource
{
    private const int MessagesBetweenPauses = 100;

    private SubscriberSource _source = new(subscriber, length);
    private int _sincePause;

    public readonly bool MayLose => true;
    public readonly long Lost => _source.Lost;

    public Received Next(long most)
    {
        if (_sincePause == MessagesBetweenPauses)
        {
            Thread.Sleep(pause);
            _sincePause = 0;
        }
        _sincePause++;
        return _source.Next(most);
    }

    public readonly void Use(int count)
    {
    }
}

/// <summary>Tells how long each message was on its way.</summary>
internal struct StampedSource(Subscriber subscriber, MessagePattern pattern) : ISource
{
    private const long MostNs = 60_000_000_000;

    private SubscriberSource _source = new(subscriber, pattern.Length);
    private Portions? _portions;

    public readonly bool MayLose => true;
    public readonly long Lost => _source.Lost;

    /// <summary>Where the next stretch's times go.</summary>
    public void Tell(Portions portions) => _portions = portions;

    public Received Next(long most)
    {
        var received = _source.Next(most);
        var now = Clock.ToNanoseconds(Clock.Now);
        if (received.Lengths[0] != pattern.Length)
            return received;
        var taken = now - pattern.TakeStamp(_source.Buffer, out var head);
        if (taken is < 0 or > MostNs)
        {
            throw Failure.WrongContent(
                $"a message says it was published {taken} ns ago: the transport damaged it, or publisher and subscriber read different clocks");
        }
        if ((head & MessageHead.EndMark) == 0)
            _portions!.KeepTime(taken);
        return received;
    }

    public readonly void Use(int count)
    {
    }
}

internal readonly struct ChannelSink(IpcChannel channel, int length) : ISink
{
    private readonly byte[] _message = new byte[length];

    public readonly int Burst => Sender.UsualBurst;
    public readonly long SpunTicks => 0;

    public readonly void Begin(long ticks)
    {
    }

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

    public readonly int Burst => Sender.UsualBurst;
    public readonly long SpunTicks => 0;

    public readonly void Begin(long ticks)
    {
    }

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

    public readonly int Burst => Sender.UsualBurst;
    public readonly long SpunTicks => 0;

    public readonly void Begin(long ticks)
    {
    }

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

/// <summary>Publishes at a rate and writes into each message when. The warm-up does not wait: it is there to get everything ready.</summary>
internal struct StampedSink(Publisher publisher, Pacer pacer, int length) : ISink
{
    private readonly byte[] _message = new byte[length];
    private bool _paced;

    public readonly int Burst => 1;
    public readonly long SpunTicks => pacer.SpunTicks;

    public void Begin(long ticks)
    {
        pacer.Begin(ticks);
        _paced = true;
    }

    public readonly int Put(MessagePattern pattern, ulong head, int most)
    {
        pattern.Write(_message, head);
        if (_paced)
            pacer.WaitUntilDue();
        MessagePattern.WriteStamp(_message, Clock.ToNanoseconds(Clock.Now));
        publisher.Publish(_message);
        return 1;
    }

    public readonly void Flush()
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
        (_channel, _length, _messages, _lengths) = (channel, length, new byte[(long)length * batch], new int[batch]);
        Array.Fill(_lengths, length);
    }

    public readonly int Burst => Sender.UsualBurst;
    public readonly long SpunTicks => 0;

    public readonly void Begin(long ticks)
    {
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
