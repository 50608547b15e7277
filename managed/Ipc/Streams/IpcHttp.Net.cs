using System.Net.Http;

namespace Ipc;

/// <summary>The client's end of HTTP, and with it gRPC, over a channel. The server is Kestrel with package Ipc.AspNetCore. For .NET 10.</summary>
public static class IpcHttp
{
    /// <summary>Makes a handler for <see cref="HttpClient"/> and for gRPC channels. All its connections go to one ipc address, whatever the addresses of the
    /// requests say; <c>http://localhost/</c> will do.</summary>
    /// <param name="address">The address at which the server listens, for example <c>shm://prices</c>.</param>
    /// <param name="implementation">The implementation that connects: pure .NET by default, or the C library.</param>
    /// <returns>A handler with .NET's defaults, but without proxy and cookies. You may change it before its first use.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException">The address is invalid.</exception>
    public static SocketsHttpHandler CreateHandler(string address, IIpc? implementation = null)
    {
        IpcAddress.Parse(address);
        var ipc = implementation ?? ManagedIpc.Instance;
        return new SocketsHttpHandler
        {
            ConnectCallback = async (_, cancellationToken) => new IpcStream(await ipc.ConnectAsync(address, cancellationToken).ConfigureAwait(false)),
            // What proxies and cookies are for lies elsewhere.
            UseProxy = false,
            UseCookies = false,
        };
    }
}
