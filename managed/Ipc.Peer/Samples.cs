using System.Runtime.InteropServices;

namespace Ipc.Peer;

/// <summary>Each operation's nanoseconds (one-way messages: each portion's picoseconds per message), in pieces, so that running out of room never
/// copies what is there.</summary>
internal sealed class Samples
{
    private const int PieceLength = 1 << 18; // 1 MiB
    private const double MostPrepared = 256.0 * 1024 * 1024; // 1 GiB of samples

    private readonly List<uint[]> _pieces = [];
    private uint[] _piece;
    private int _current;
    private int _used;

    /// <summary>Makes room for so many samples and touches it, so that no page fault falls between two measured operations.</summary>
    public Samples(double expected)
    {
        var pieces = (int)(Math.Clamp(expected, 1, MostPrepared) / PieceLength) + 1;
        _pieces.Capacity = pieces + 64;
        for (var i = 0; i < pieces; i++)
            _pieces.Add(NewPiece());
        _piece = _pieces[0];
    }

    public long Count => (long)_current * PieceLength + _used;

    /// <summary>Bytes these samples occupy: they belong to the measurement, not to what it costs to communicate.</summary>
    public long MemoryBytes => (long)_pieces.Count * PieceLength * sizeof(uint);

    /// <summary>Forgets all, and keeps the room.</summary>
    public void Clear() => (_piece, _current, _used) = (_pieces[0], 0, 0);

    /// <summary>The median; the samples of the first piece tell it.</summary>
    public long Median()
    {
        var first = _pieces[0].AsSpan(0, _current > 0 ? PieceLength : _used).ToArray();
        Array.Sort(first);
        return first.Length > 0 ? first[first.Length / 2] : 0;
    }

    public void Add(long time)
    {
        if (_used == _piece.Length)
            NextPiece();
        _piece[_used++] = (uint)Math.Clamp(time, 0, uint.MaxValue);
    }

    /// <summary>Little-endian u32s, in order.</summary>
    public void Write(string path)
    {
        using var file = File.Create(path);
        for (var i = 0; i <= _current; i++)
            file.Write(MemoryMarshal.AsBytes(_pieces[i].AsSpan(0, i == _current ? _used : PieceLength)));
    }

    private void NextPiece()
    {
        if (++_current == _pieces.Count)
            _pieces.Add(NewPiece());
        _piece = _pieces[_current];
        _used = 0;
    }

    private static uint[] NewPiece()
    {
        var piece = GC.AllocateUninitializedArray<uint>(PieceLength);
        Array.Fill(piece, 1u);
        return piece;
    }
}
