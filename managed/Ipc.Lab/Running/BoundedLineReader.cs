using System.Buffers;
using System.Text;

namespace Ipc.Lab.Running;

/// <summary>Reads lines of UTF-8 text without trusting whoever writes them: a line longer than the limit is an error, not memory.</summary>
internal sealed class BoundedLineReader(Stream stream, int limit = 1 << 20)
{
    private readonly byte[] _chunk = new byte[4096];
    private readonly ArrayBufferWriter<byte> _line = new();
    private int _next;
    private int _end;

    /// <summary>The next line without its end, null after the last. <see cref="InvalidDataException"/>: longer than the limit.</summary>
    public async Task<string?> ReadAsync()
    {
        while (true)
        {
            var rest = _chunk.AsMemory(_next, _end - _next);
            var newline = rest.Span.IndexOf((byte)'\n');
            Take(newline < 0 ? rest.Span : rest.Span[..newline]);
            _next = newline < 0 ? _end : _next + newline + 1;
            if (newline >= 0)
                return Finish();
            _next = 0;
            _end = await stream.ReadAsync(_chunk).ConfigureAwait(false);
            if (_end == 0)
                return _line.WrittenCount > 0 ? Finish() : null;
        }
    }

    private void Take(ReadOnlySpan<byte> bytes)
    {
        if (_line.WrittenCount + bytes.Length > limit)
            throw new InvalidDataException($"a line longer than {limit} bytes");
        _line.Write(bytes);
    }

    private string Finish()
    {
        var line = Encoding.UTF8.GetString(_line.WrittenSpan).TrimEnd('\r');
        _line.ResetWrittenCount();
        return line;
    }
}
