using System.IO.Pipelines;

namespace Ipc.AspNetCore;

/// <summary>How Kestrel's connections over ipc work.</summary>
public sealed class IpcTransportOptions
{
    /// <summary>What listens: pure .NET unless said otherwise, or the C library, which holds a thread of the pool for most of what waits (docs/dotnet.md).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Of a request's body and other input: so much is read ahead of the application, then the client waits.</summary>
    public long MaxReadBufferSize { get; set; } = 1024 * 1024;

    /// <summary>So much output lies ready for a slow client, then the application waits.</summary>
    public long MaxWriteBufferSize { get; set; } = 64 * 1024;

    /// <summary>Whether the application goes on where input has come, on the thread that brought it, instead of on another of the pool. Saves a change of
    /// threads; an application that blocks then holds up its own connection, and one that waits for more of its request without <c>await</c> stops
    /// forever.</summary>
    public bool UnsafePreferInlineScheduling { get; set; }

    internal PipeScheduler Scheduler => UnsafePreferInlineScheduling ? PipeScheduler.Inline : PipeScheduler.ThreadPool;
}
