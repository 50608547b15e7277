namespace Ipc;

/// <summary>Options of an <see cref="IpcAsyncServer"/>.</summary>
public sealed class IpcAsyncServerOptions
{
    /// <summary>The most clients served at once; 1024 by default. More wait in the system's queue until one leaves.</summary>
    public int MaxClients { get; set; } = 1024;

    /// <summary>The most requests of one client answered at a time; 1 by default. With more, the handler runs on several threads at once for one client, and
    /// replies are sent in the order in which they become ready.</summary>
    public int CallsAtOnce { get; set; } = 1;

    /// <summary>The implementation that listens: pure .NET by default, or the C library (<c>NativeIpc.Instance</c>).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Called for everything that goes wrong without ending the server, possibly on several threads at once. What it throws is ignored. A handler that
    /// ends by its token, because its client was cut off, counts as one that threw.</summary>
    public Action<IpcServerError>? Error { get; set; }
}
