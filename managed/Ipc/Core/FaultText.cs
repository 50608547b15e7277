using System.Buffers;
using System.Text;

namespace Ipc;

/// <summary>The text that fails a call at the client, in UTF-8 and no longer than a message may be. In memory from the pool: who answers many calls so leaves
/// nothing behind for the collector.</summary>
internal readonly struct FaultText : IDisposable
{
    private readonly byte[] _rented;
    private readonly int _length;

    public FaultText(string text, int longest)
    {
        var length = Encoding.UTF8.GetByteCount(text);
        _rented = ArrayPool<byte>.Shared.Rent(length);
        Encoding.UTF8.GetBytes(text, 0, text.Length, _rented, 0);
        _length = Math.Min(length, longest);
    }

    public ReadOnlySpan<byte> Bytes => _rented.AsSpan(0, _length);

    public ReadOnlyMemory<byte> Memory => _rented.AsMemory(0, _length);

    public void Dispose() => ArrayPool<byte>.Shared.Return(_rented);
}
