namespace Ipc;

/// <summary>How an <see cref="IpcServer"/> serves.</summary>
public sealed class IpcServerOptions
{
    /// <summary>Clients served at once. When one more comes, the client that has been connected longest without ever calling makes room; if
    /// all have called, new ones wait in the system's queue until one leaves.</summary>
    public int MaxClients { get; set; } = 256;

    /// <summary>What listens at an address: pure .NET unless said otherwise, or the C library (<c>NativeIpc.Instance</c>).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Told of everything that goes wrong without ending the server, on its threads and perhaps on several at once. What it throws
    /// is ignored.</summary>
    public Action<IpcServerError>? Error { get; set; }
}

/// <summary>Something that went wrong at a server that goes on nevertheless.</summary>
/// <param name="Source">Where.</param>
/// <param name="Exception">What: the handler's own exception, or an <see cref="IpcException"/> of the library.</param>
public sealed record IpcServerError(IpcServerErrorSource Source, Exception Exception);

/// <summary>Where at a server something went wrong.</summary>
public enum IpcServerErrorSource
{
    /// <summary>No client could be accepted, or one had to be dropped for want of room or of a thread.</summary>
    Accept,
    /// <summary>A client broke its channel; only that channel ends.</summary>
    Channel,
    /// <summary>The handler threw, which the client has been told.</summary>
    Handler,
}
