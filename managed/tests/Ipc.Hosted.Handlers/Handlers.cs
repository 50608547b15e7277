using System.Buffers.Binary;
using System.Text;

namespace Ipc.Hosted;

/// <summary>What the tests have native code call.</summary>
public static class Handlers
{
    private static long s_before;

    /// <summary>The request in capitals (ASCII); "fail" fails.</summary>
    public static void Capitals(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        ArgumentNullException.ThrowIfNull(reply);
        if (request.SequenceEqual("fail"u8))
            throw new InvalidOperationException("no capitals for 'fail'");
        if (request.SequenceEqual("long"u8))
            reply.Reserve(1 << 30);
        var room = reply.Reserve(request.Length);
        for (var i = 0; i < room.Length; i++)
            room[i] = request[i] is >= (byte)'a' and <= (byte)'z' ? (byte)(request[i] - 32) : request[i];
    }

    /// <summary>What this thread has allocated since the last call, 8 bytes.</summary>
    public static void Allocated(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        ArgumentNullException.ThrowIfNull(reply);
        var now = GC.GetAllocatedBytesForCurrentThread();
        BinaryPrimitives.WriteInt64LittleEndian(reply.Reserve(sizeof(long)), now - s_before);
        s_before = now;
    }

    /// <summary>A handler that counts its calls.</summary>
    public static RequestHandler Counter()
    {
        var calls = 0;
        return (_, reply) => reply.Reserve(1)[0] = (byte)++calls;
    }

    /// <summary>The request names a folder: makes file "entered" there, and replies once there is a file "go", or after 20 s.</summary>
    public static void WhenTold(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        ArgumentNullException.ThrowIfNull(reply);
        var folder = Encoding.UTF8.GetString(request);
        File.WriteAllText(Path.Combine(folder, "entered"), "");
        SpinWait.SpinUntil(() => File.Exists(Path.Combine(folder, "go")), 20_000);
        reply.Reserve(1);
    }

    public static RequestHandler Broken() => throw new InvalidOperationException("no handler today");

    /// <summary>No handler by its signature, and no function without its attribute.</summary>
    public static byte[] Wrong(byte[] request) => request;
}
