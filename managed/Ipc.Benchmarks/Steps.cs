using BenchmarkDotNet.Attributes;

namespace Ipc.Benchmarks;

/// <summary>A message's steps, in pure .NET and over the C ABI.</summary>
public class Steps
{
    private Ends _ends = null!;
    private byte[] _message = [];
    private byte[] _buffer = [];

    /// <summary>managed or bound.</summary>
    [Params("managed", "bound")]
    public string Side { get; set; } = "";

    /// <summary>Of the message.</summary>
    [Params(32, 64, 1000)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _ends = new Ends(Side, "wait=spin");
        _message = new byte[Bytes];
        _buffer = new byte[Bytes];
    }

    [GlobalCleanup]
    public void Close() => _ends.Dispose();

    /// <summary>A second reserve replaces the first, so that reserving alone can be repeated.</summary>
    [Benchmark]
    public int Reserve() => _ends.Client.Reserve(Bytes).Length;

    [Benchmark]
    public void ReserveCommitPeekRelease()
    {
        _ = _ends.Client.Reserve(Bytes);
        _ends.Client.Commit(Bytes);
        _ = _ends.Server.Peek();
        _ends.Server.Release();
    }

    [Benchmark]
    public int SendReceive()
    {
        _ends.Client.Send(_message);
        return _ends.Server.Receive(_buffer);
    }
}

/// <summary>The fence after publishing, which a reader that may sleep makes necessary, and lending whatever the size.</summary>
public class Ways
{
    private Ends _ends = null!;
    private readonly byte[] _buffer = new byte[64];

    /// <summary>managed or bound.</summary>
    [Params("managed", "bound")]
    public string Side { get; set; } = "";

    /// <summary>How both ends wait.</summary>
    [Params("spin", "adaptive", "block")]
    public string Wait { get; set; } = "";

    [GlobalSetup]
    public void Open() => _ends = new Ends(Side, $"wait={Wait}&size=16M");

    [GlobalCleanup]
    public void Close() => _ends.Dispose();

    [Benchmark]
    public int SendReceive()
    {
        _ends.Client.Send(_buffer);
        return _ends.Server.Receive(_buffer);
    }

    /// <summary>Nothing is there: what a loop pays that looks at several sources in turn.</summary>
    [Benchmark]
    public bool EmptyPoll() => _ends.Server.TryReceive(_buffer, out _, 0);

    /// <summary>Neither written nor read: what is left is what lending 4 MB costs.</summary>
    [Benchmark]
    public void LendFourMegabytes()
    {
        _ = _ends.Client.Reserve(4 << 20);
        _ends.Client.Commit(4 << 20);
        _ = _ends.Server.Peek();
        _ends.Server.Release();
    }
}

/// <summary>64 messages of 32 bytes at once.</summary>
public class Batches
{
    private const int Count = 64;
    private Ends _ends = null!;
    private readonly byte[] _messages = new byte[32 * Count];
    private readonly byte[] _buffer = new byte[32 * Count];
    private readonly int[] _lengths = [.. Enumerable.Repeat(32, Count)];
    private readonly int[] _received = new int[Count];

    /// <summary>managed or bound.</summary>
    [Params("managed", "bound")]
    public string Side { get; set; } = "";

    [GlobalSetup]
    public void Open() => _ends = new Ends(Side, "wait=spin");

    [GlobalCleanup]
    public void Close() => _ends.Dispose();

    [Benchmark(OperationsPerInvoke = Count)]
    public int SendReceiveBatch()
    {
        _ends.Client.SendBatch(_messages, _lengths);
        return _ends.Server.ReceiveBatch(_buffer, _received);
    }
}
