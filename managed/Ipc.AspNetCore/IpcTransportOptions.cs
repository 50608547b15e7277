using System.IO.Pipelines;

namespace Ipc.AspNetCore;

/// <summary>Options of Kestrel's connections over ipc.</summary>
public sealed class IpcTransportOptions
{
    /// <summary>The implementation that listens: pure .NET by default, or the C library, which holds a thread for most waits
    /// (docs/dotnet.md).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>How many bytes are read ahead of the application before the client has to wait; 1 MB by default.</summary>
    public long MaxReadBufferSize { get; set; } = 1024 * 1024;

    /// <summary>How many bytes are kept for a slow client before the application has to wait; 64 kB by default.</summary>
    public long MaxWriteBufferSize { get; set; } = 64 * 1024;

    /// <summary>Whether the application continues on the thread that received its input rather than on another one of the pool; off by default.</summary>
    /// <remarks>This saves a switch of threads. An application that blocks then delays its own connection, and one that waits for the rest of its request
    /// without
    /// <c>await</c> stops forever.</remarks>
    public bool UnsafePreferInlineScheduling { get; set; }

    internal PipeScheduler Scheduler => UnsafePreferInlineScheduling ? PipeScheduler.Inline : PipeScheduler.ThreadPool;
}
