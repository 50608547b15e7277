using BenchmarkDotNet.Attributes;
using Ipc.Native;

namespace Ipc.Benchmarks;

/// <summary>In and out of a queue on one thread, in turns.</summary>
public class Queues
{
    private readonly byte[] _message = new byte[32];
    private readonly byte[] _buffer = new byte[32];
    private string _address = "";
    private IpcQueue _queue = null!;

    /// <summary>managed or bound.</summary>
    [Params("managed", "bound")]
    public string Side { get; set; } = "";

    /// <summary>With its options.</summary>
    [Params("queue", "ring", "ring lifo")]
    public string Transport { get; set; } = "";

    [GlobalSetup]
    public void Open()
    {
        var words = Transport.Split(' ');
        _address = $"{words[0]}://bench-{Environment.ProcessId}?wait=spin{(words.Length > 1 ? "&order=" + words[1] : "")}";
        _queue = Side == "bound" ? NativeIpc.OpenQueue(_address) : ManagedIpc.OpenQueue(_address);
    }

    [GlobalCleanup]
    public void Close()
    {
        ManagedIpc.RemoveQueue(_address);
        _queue.Dispose();
    }

    [Benchmark]
    public int EnqueueDequeue()
    {
        _queue.Enqueue(_message);
        return _queue.Dequeue(_buffer);
    }
}
