using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;

namespace Ipc.AspNetCore;

/// <summary>Lets Kestrel listen at ipc addresses.</summary>
public static class IpcWebHostBuilderExtensions
{
    /// <summary>Lets Kestrel listen at ipc addresses, in addition to its other endpoints. Add an address by
    /// <see cref="ListenIpc(KestrelServerOptions, string, Action{ListenOptions}?)"/>.</summary>
    /// <param name="builder">The builder of the web host: <c>builder.WebHost.UseIpc()</c>.</param>
    /// <param name="configure">Changes the options.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException">The builder is null.</exception>
    public static IWebHostBuilder UseIpc(this IWebHostBuilder builder, Action<IpcTransportOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.ConfigureServices(services =>
        {
            services.AddSingleton<IConnectionListenerFactory, IpcConnectionListenerFactory>();
            if (configure is not null)
                services.Configure(configure);
        });
    }

    /// <summary>Listens at an ipc address, for example <c>kestrel.ListenIpc("shm://prices", listen => listen.Protocols = HttpProtocols.Http2)</c>, which
    /// is what gRPC needs.</summary>
    /// <param name="options">The options of Kestrel.</param>
    /// <param name="address">The address at which clients connect. The transport must have channels, as <c>shm</c>, <c>unix</c> and <c>pipe</c> do.</param>
    /// <param name="configure">Changes the options of this endpoint; HTTP/1.1 by default.</param>
    /// <exception cref="ArgumentNullException">The options or the address are null.</exception>
    /// <exception cref="IpcException">The address is invalid.</exception>
    public static void ListenIpc(this KestrelServerOptions options, string address, Action<ListenOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Listen(new IpcEndPoint(address), configure ?? (_ => { }));
    }
}
