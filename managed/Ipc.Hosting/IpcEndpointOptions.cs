namespace Ipc.Hosting;

/// <summary>A server in the host; named options, bound from configuration as any others.</summary>
public sealed class IpcServerHostOptions
{
    /// <summary>Where it listens: <c>unix://prices</c>.</summary>
    public string Address { get; set; } = "";

    /// <summary>Clients served at once; more wait in the system's queue until one leaves.</summary>
    public int MaxClients { get; set; } = 1024;

    /// <summary>How long the host's stopping waits for requests in progress before it cancels them.</summary>
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>What listens: pure .NET unless said otherwise, or the C library.</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;
}

/// <summary>A client in the host; named options, bound from configuration as any others.</summary>
public sealed class IpcClientHostOptions
{
    /// <summary>The server's: <c>unix://prices</c>.</summary>
    public string Address { get; set; } = "";

    /// <summary>As <see cref="IpcClientOptions.Reconnect"/>.</summary>
    public bool Reconnect { get; set; } = true;

    /// <summary>As <see cref="IpcClientOptions.FirstPause"/>.</summary>
    public TimeSpan FirstPause { get; set; } = TimeSpan.FromMilliseconds(20);

    /// <summary>As <see cref="IpcClientOptions.LongestPause"/>.</summary>
    public TimeSpan LongestPause { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>As <see cref="IpcClientOptions.Serializer"/>.</summary>
    public IIpcSerializer? Serializer { get; set; }

    /// <summary>As <see cref="IpcClientOptions.Implementation"/>.</summary>
    public IIpc Implementation { get; set; } = ManagedIpc.Instance;
}
