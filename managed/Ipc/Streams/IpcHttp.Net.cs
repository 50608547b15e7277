using System.Net.Http;

namespace Ipc;

/// <summary>HTTP, and with it gRPC, over a channel: the client's side. A server is Kestrel with package Ipc.AspNetCore. For .NET 10.</summary>
public static class IpcHttp
{
    /// <summary>A handler for <see cref="HttpClient"/> and gRPC's channel whose connections all go to one address of ipc, whatever the requests' addresses
    /// say: <c>http://localhost/</c> serves.</summary>
    /// <param name="address">Where the server listens: <c>shm://prices</c>.</param>
    /// <param name="implementation">What connects: pure .NET unless said otherwise, or the C library.</param>
    /// <returns>With .NET's own settings, to be changed as wished before its first use.</returns>
    /// <exception cref="IpcException">The address is none.</exception>
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
