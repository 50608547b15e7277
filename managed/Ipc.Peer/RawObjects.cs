using System.Buffers.Binary;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>Bytes as an object, for scenarios that treat them as such; the first 8 are the sequence.</summary>
internal sealed class RawObject(byte[] bytes) : ISequenced
{
    public byte[] Bytes { get; } = bytes;

    public ulong Sequence
    {
        get => BinaryPrimitives.ReadUInt64LittleEndian(Bytes);
        set => BinaryPrimitives.WriteUInt64LittleEndian(Bytes, value);
    }

    /// <summary>Whether it holds the same, sequence apart.</summary>
    public bool SameAs(byte[] expected) => Bytes.AsSpan(sizeof(ulong)).SequenceEqual(expected.AsSpan(sizeof(ulong)));
}

/// <summary>Codec `raw` of scenario `batch`: objects are copied, both ways into memory that is kept.</summary>
internal readonly struct RawBatchCodec : IBatchCodec<RawObject, RawObject>
{
    public void EncodeRequest(RawObject request, MessageBuffer collection) => Append(request, collection);

    public void EncodeReply(RawObject reply, MessageBuffer collection) => Append(reply, collection);

    public void DecodeRequest(ReadOnlySpan<byte> bytes, ref RawObject place) => Take(bytes, place, "request");

    public void DecodeReply(ReadOnlySpan<byte> bytes, ref RawObject place) => Take(bytes, place, "reply");

    public ReadOnlySpan<byte> Split(ref ReadOnlySpan<byte> left) => default(LengthFraming).Split(ref left);

    private static void Append(RawObject one, MessageBuffer collection)
    {
        var opened = default(LengthFraming).Open(collection);
        one.Bytes.AsSpan().CopyTo(collection.GetSpan(one.Bytes.Length));
        collection.Advance(one.Bytes.Length);
        default(LengthFraming).Close(collection, opened);
    }

    private static void Take(ReadOnlySpan<byte> bytes, RawObject place, string what)
    {
        if (bytes.Length != place.Bytes.Length)
            throw new CodecException(
                $"a {what} of the bucket has {bytes.Length} bytes where {place.Bytes.Length} are due: check that both peers got the same workload");
        bytes.CopyTo(place.Bytes);
    }

    /// <summary>The objects of a cell.</summary>
    public static BatchData<RawObject, RawObject> DataOf(Cell cell)
    {
        var workload = cell.Workload;
        if (workload.RequestBytes < sizeof(ulong) || workload.ReplyBytes < sizeof(ulong))
            throw Failure.BadCell($"workload '{workload.Id}' has objects of less than 8 bytes, which hold no sequence");
        var request = PayloadData.Raw(cell.Seed, workload.RequestBytes);
        var reply = PayloadData.Raw(unchecked(cell.Seed + 1), workload.ReplyBytes);
        return new(workload.Bucket, () => new RawObject([.. request]), () => new RawObject([.. reply]), r => r.SameAs(request), r => r.SameAs(reply));
    }
}
