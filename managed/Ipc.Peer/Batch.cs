using Ipc.Codecs;

namespace Ipc.Peer;

// Scenario `batch`: small objects collected into buckets, each bucket one call. Timed is what batching costs and saves: the client encodes each
// object into a collection, calls, and splits and decodes the replies; the server splits, decodes, answers each request and collects the replies.

/// <summary>The objects of a bucket and the codec that takes them, both ways.</summary>
internal interface IBatchCodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    void EncodeRequest(TRequest request, MessageBuffer collection);

    /// <summary>Into the place of an earlier object, which a codec may reuse.</summary>
    void DecodeRequest(ReadOnlySpan<byte> bytes, ref TRequest place);

    void EncodeReply(TReply reply, MessageBuffer collection);

    void DecodeReply(ReadOnlySpan<byte> bytes, ref TReply place);

    /// <summary>The next object's bytes.</summary>
    ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left);
}

/// <summary>A codec of objects with its framing.</summary>
internal readonly struct BatchCodec<TCodec, TFraming, TRequest, TReply> : IBatchCodec<TRequest, TReply>
    where TCodec : struct, ICodec<TRequest, TReply>
    where TFraming : struct, IFraming
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    public void EncodeRequest(TRequest request, MessageBuffer collection)
    {
        var opened = default(TFraming).Open(collection);
        default(TCodec).EncodeRequest(request, collection);
        default(TFraming).Close(collection, opened);
    }

    public void EncodeReply(TReply reply, MessageBuffer collection)
    {
        var opened = default(TFraming).Open(collection);
        default(TCodec).EncodeReply(reply, collection);
        default(TFraming).Close(collection, opened);
    }

    public void DecodeRequest(ReadOnlySpan<byte> bytes, ref TRequest place) => place = default(TCodec).DecodeRequest(bytes);

    public void DecodeReply(ReadOnlySpan<byte> bytes, ref TReply place) => place = default(TCodec).DecodeReply(bytes);

    public ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left) => default(TFraming).Split(ref left);
}

/// <summary>What a bucket is made of, and what is due.</summary>
/// <param name="Bucket">Objects sent together.</param>
/// <param name="MakeRequest">A request of its own, each time.</param>
/// <param name="MakeReply">A reply of its own, each time.</param>
/// <param name="IsRightRequest">Whether a request says what it should, sequence apart.</param>
/// <param name="IsRightReply">The same for replies.</param>
internal sealed record BatchData<TRequest, TReply>(
    int Bucket, Func<TRequest> MakeRequest, Func<TReply> MakeReply, Func<TRequest, bool> IsRightRequest, Func<TReply, bool> IsRightReply)
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    public TRequest[] Requests() => [.. Enumerable.Range(0, Bucket).Select(_ => MakeRequest())];

    public TReply[] Replies() => [.. Enumerable.Range(0, Bucket).Select(_ => MakeReply())];

    public Failure WrongNumber(string what, int found) =>
        Failure.WrongContent($"the bucket has {found} {what} where {Bucket} are due: check that both peers got the same workload");
}

/// <summary>The client: an operation is a bucket.</summary>
internal sealed class BatchCall<TCodec, TRequest, TReply> : Operation
    where TCodec : struct, IBatchCodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    private readonly IpcChannel _channel;
    private readonly BatchData<TRequest, TReply> _data;
    private readonly TRequest[] _requests;
    private readonly TReply[] _replies;
    private readonly MessageBuffer _collection = new();
    private readonly byte[] _received;
    private ulong _sequence;

    public BatchCall(IpcChannel channel, BatchData<TRequest, TReply> data)
    {
        _channel = channel;
        _data = data;
        _requests = data.Requests();
        _replies = data.Replies();
        var longest = new MessageBuffer();
        foreach (var reply in _replies)
        {
            reply.Sequence = ulong.MaxValue;
            default(TCodec).EncodeReply(reply, longest);
        }
        _received = ObjectRoom.For(longest);
    }

    public override Timing Once()
    {
        var first = _sequence + 1;
        foreach (var request in _requests)
            request.Sequence = ++_sequence;

        var begin = Clock.Now;
        _collection.Clear();
        foreach (var request in _requests)
            default(TCodec).EncodeRequest(request, _collection);
        var length = _channel.Call(_collection.Written, _received);
        var count = Split(_received.AsSpan(0, length));
        var end = Clock.Now;

        if (count != _replies.Length)
            throw _data.WrongNumber("replies", count);
        Check(first);
        Content.Spoil(_received.AsSpan(0, length));
        return new Timing(end, end - begin, _collection.Written.Length + length);
    }

    // How many there are; those beyond a bucket are only counted.
    private int Split(ReadOnlySpan<byte> left)
    {
        var count = 0;
        for (; !left.IsEmpty; count++)
        {
            var bytes = default(TCodec).Split(ref left);
            if (count < _replies.Length)
                default(TCodec).DecodeReply(bytes, ref _replies[count]);
        }
        return count;
    }

    private void Check(ulong sequence)
    {
        foreach (var reply in _replies)
        {
            if (reply.Sequence != sequence)
                throw Failure.WrongSequence("reply", reply.Sequence, sequence);
            if (!_data.IsRightReply(reply))
            {
                throw Failure.WrongContent(
                    $"reply {sequence} does not hold what the server should have sent: compare the seeds and the codecs of both sides");
            }
            sequence++;
        }
    }
}

/// <summary>The server: receives into memory of its own, splits, decodes, answers each, and then checks what came.</summary>
internal sealed class BatchService<TCodec, TRequest, TReply> : Service
    where TCodec : struct, IBatchCodec<TRequest, TReply>
    where TRequest : class, ISequenced
    where TReply : class, ISequenced
{
    private readonly BatchData<TRequest, TReply> _data;
    private readonly TRequest[] _requests;
    private readonly TReply _reply;
    private readonly MessageBuffer _collection = new();
    private readonly byte[] _received;
    private int _length;
    private ulong _sequence;

    public BatchService(IpcChannel channel, BatchData<TRequest, TReply> data) : base(channel)
    {
        _data = data;
        _requests = data.Requests();
        _reply = data.MakeReply();
        var longest = new MessageBuffer();
        foreach (var request in _requests)
        {
            request.Sequence = ulong.MaxValue;
            default(TCodec).EncodeRequest(request, longest);
        }
        _received = ObjectRoom.For(longest);
    }

    public override void Once()
    {
        Receive();
        _collection.Clear();
        foreach (var request in _requests)
        {
            _reply.Sequence = request.Sequence;
            default(TCodec).EncodeReply(_reply, _collection);
        }
        Channel.Reply(_collection.Written);
        Check();
    }

    private void Receive()
    {
        var message = ReceiveRequest();
        if (message.Length > _received.Length)
            throw Refuse(Failure.WrongLength("bucket of requests", message.Length, _received.Length));
        message.CopyTo(_received);
        _length = message.Length;
        var count = 0;
        try
        {
            count = Split(_received.AsSpan(0, _length));
        }
        catch (CodecException e)
        {
            throw Refuse(Failure.From(e));
        }
        if (count != _requests.Length)
            throw Refuse(_data.WrongNumber("requests", count));
    }

    private int Split(ReadOnlySpan<byte> left)
    {
        var count = 0;
        for (; !left.IsEmpty; count++)
        {
            var bytes = default(TCodec).Split(ref left);
            if (count < _requests.Length)
                default(TCodec).DecodeRequest(bytes, ref _requests[count]);
        }
        return count;
    }

    private void Check()
    {
        foreach (var request in _requests)
        {
            if (request.Sequence != ++_sequence)
                throw Failure.WrongSequence("request", request.Sequence, _sequence);
            if (!_data.IsRightRequest(request))
            {
                throw Failure.WrongContent(
                    $"request {_sequence} does not hold what the client should have sent: compare the seeds and the codecs of both sides");
            }
        }
        Content.Spoil(_received.AsSpan(0, _length));
    }
}
