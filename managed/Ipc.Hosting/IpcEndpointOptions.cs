namespace Ipc.Hosting;

/// <summary>Options of a server in a host. They are named options, bound from configuration like any others.</summary>
public sealed class IpcServerHostOptions
{
    /// <summary>The address at which the server listens, for example <c>unix://prices</c>.</summary>
    public string Address { get; set; } = "";

    /// <inheritdoc cref="IpcAsyncServerOptions.MaxClients"/>
    public int MaxClients { get; set; } = 1024;

    /// <inheritdoc cref="IpcAsyncServerOptions.CallsAtOnce"/>
    public int CallsAtOnce { get; set; } = 1;

    /// <summary>How long requests in progress may take when the host stops, before their tokens are cancelled; 5 s by default.</summary>
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The implementation that listens: pure .NET by default, or the C library.</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;
}

/// <summary>Options of a client in a host. They are named options, bound from configuration like any others.</summary>
public sealed class IpcClientHostOptions
{
    /// <summary>The address at which the server listens, for example <c>unix://prices</c>.</summary>
    public string Address { get; set; } = "";

    /// <inheritdoc cref="IpcClientOptions.Reconnect"/>
    public bool Reconnect { get; set; } = true;

    /// <inheritdoc cref="IpcClientOptions.FirstPause"/>
    public TimeSpan FirstPause { get; set; } = TimeSpan.FromMilliseconds(20);

    /// <inheritdoc cref="IpcClientOptions.LongestPause"/>
    public TimeSpan LongestPause { get; set; } = TimeSpan.FromSeconds(2);

    /// <inheritdoc cref="IpcClientOptions.Serializer"/>
    public IIpcSerializer? Serializer { get; set; }

    /// <inheritdoc cref="IpcClientOptions.Implementation"/>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;
}
