namespace Ipc.Peer;

/// <summary>The five steps of an operation of scenario `serialize`, in order, and two that are timed beside it.</summary>
internal enum Step
{
    /// <summary>Objects from domain data.</summary>
    Build,
    /// <summary>Objects into the codec's own, and back after decoding.</summary>
    Translate,
    Encode,
    Decode,
    /// <summary>Every character of what came out.</summary>
    Traverse,
    /// <summary>Every text of the encoded bytes in place: no part of an operation.</summary>
    View,
    /// <summary>The encoded bytes moved, to compare with: no part of an operation.</summary>
    Copy,
}

/// <summary>How long each step took, operation by operation, once <see cref="Keep"/> is set.</summary>
internal sealed class StepTimes
{
    private const int StepsOfOperation = 5;
    private const int Steps = 7;
    // Enough for a median; later operations take the oldest ones' places.
    private const int Kept = 1 << 16;

    private readonly long[][] _kept = [.. Enumerable.Range(0, Steps).Select(_ => new long[Kept])];
    private readonly long[] _current = new long[Steps];
    private long _operations;

    /// <summary>Whether operations from now on count for the medians.</summary>
    public bool Keep { get; set; }

    public void Add(Step step, long ticks) => _current[(int)step] += ticks;

    /// <summary>Ends an operation; the ticks of all its steps.</summary>
    public long Finish()
    {
        var ticks = 0L;
        for (var step = 0; step < Steps; step++)
        {
            if (step < StepsOfOperation)
                ticks += _current[step];
            if (Keep)
                _kept[step][_operations % Kept] = _current[step];
            _current[step] = 0;
        }
        if (Keep)
            _operations++;
        return ticks;
    }

    /// <summary>Median nanoseconds of each step, and begins anew.</summary>
    public StepMedians TakeMedians()
    {
        var medians = Array.ConvertAll(_kept, Median);
        _operations = 0;
        return new StepMedians(medians[0], medians[1], medians[2], medians[3], medians[4], medians[5], medians[6]);
    }

    private long Median(long[] kept)
    {
        var count = (int)Math.Min(_operations, Kept);
        Array.Sort(kept, 0, count);
        return Clock.ToNanoseconds(kept[count / 2]);
    }
}

/// <summary>Median nanoseconds of each step for request plus reply.</summary>
internal sealed record StepMedians(long BuildNs, long TranslateNs, long EncodeNs, long DecodeNs, long TraverseNs, long ViewNs, long CopyNs);

/// <summary>Writes to every line of more memory than the caches near a core hold, so that they hold nothing else afterwards.</summary>
internal sealed class CacheSweep
{
    private const int CacheLine = 64;

    private readonly byte[] _memory = new byte[64 << 20];

    public void Run()
    {
        for (var at = 0; at < _memory.Length; at += CacheLine)
            _memory[at]++;
    }
}
