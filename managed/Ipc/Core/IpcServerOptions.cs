namespace Ipc;

/// <summary>Options of an <see cref="IpcServer"/>.</summary>
public sealed class IpcServerOptions
{
    /// <summary>The most clients served at once; 256 by default. When one more connects, the client that has been connected longest without ever calling is
    /// dropped, though not within 50 ms of its connecting; if all have called, new clients wait in the system's queue until one leaves.</summary>
    public int MaxClients { get; set; } = 256;

    /// <summary>The implementation that listens: pure .NET by default, or the C library (<c>NativeIpc.Instance</c>).</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;

    /// <summary>Called for everything that goes wrong without ending the server, on the server's threads and possibly on several at once. What it throws is
    /// ignored.</summary>
    public Action<IpcServerError>? Error { get; set; }
}

/// <summary>Something that went wrong at a server, which goes on.</summary>
/// <param name="Source">Where it went wrong.</param>
/// <param name="Exception">What went wrong: the handler's own exception, or an <see cref="IpcException"/> of the library.</param>
public sealed record IpcServerError(IpcServerErrorSource Source, Exception Exception);

/// <summary>Where something went wrong at a server.</summary>
public enum IpcServerErrorSource
{
    /// <summary>A client could not be accepted, or was dropped because there was no room or no thread for it.</summary>
    Accept,
    /// <summary>A client's channel broke; only that channel ends.</summary>
    Channel,
    /// <summary>The handler threw; the client has been told.</summary>
    Handler,
}
