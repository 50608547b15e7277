// What the compiler makes of a[^1], and of a[1..] where a is a span or a string.

namespace System
{
    internal readonly struct Index(int value, bool fromEnd = false)
    {
        public static Index Start => new(0);
        public static Index End => new(0, fromEnd: true);

        public int GetOffset(int length) => fromEnd ? length - value : value;

        public static implicit operator Index(int value) => new(value);
    }

    internal readonly struct Range(Index start, Index end)
    {
        public Index Start { get; } = start;
        public Index End { get; } = end;

        public static Range All => new(Index.Start, Index.End);
        public static Range StartAt(Index start) => new(start, Index.End);
        public static Range EndAt(Index end) => new(Index.Start, end);

        public (int Offset, int Length) GetOffsetAndLength(int length)
        {
            var start = Start.GetOffset(length);
            var end = End.GetOffset(length);
            if ((uint)end > (uint)length || (uint)start > (uint)end)
                throw new ArgumentOutOfRangeException(nameof(length));
            return (start, end - start);
        }
    }
}
