using System.Runtime.InteropServices;

namespace Ipc.Peer;

// Word by word: the older runtimes have no vectors of a known size.
internal sealed partial class MessagePattern
{
    /// <summary>Writes the whole message.</summary>
    /// <param name="to">At least <see cref="Length"/> bytes.</param>
    public void Write(Span<byte> to, ulong head)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(to[..Length]);
        for (var i = 0; i < _whole; i++)
            words[i] = _words[i] + head;
        if (_whole < _words.Length)
            WriteTail(to, head);
    }

    /// <summary>Whether a message of the right length is as <see cref="Write"/> makes it.</summary>
    public bool IsRight(ReadOnlySpan<byte> message, ulong head)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(message[..Length]);
        var wrong = 0UL;
        for (var i = 0; i < _whole; i++)
            wrong |= words[i] ^ (_words[i] + head);
        return wrong == 0 && (_whole == _words.Length || IsTailRight(message, head));
    }

    private bool WriteAtOnce(Span<byte> to, int count, ulong head) => false;

    private bool AreRightAtOnce(ReadOnlySpan<byte> messages, int count, ulong head) => false;
}
