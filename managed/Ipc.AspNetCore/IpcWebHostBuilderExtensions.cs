using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;

namespace Ipc.AspNetCore;

/// <summary>Puts ipc below Kestrel.</summary>
public static class IpcWebHostBuilderExtensions
{
    /// <summary>Lets Kestrel listen at addresses of ipc, beside all it listens at otherwise. <see cref="ListenIpc(KestrelServerOptions, string, Action{ListenOptions}?)"/> names one.</summary>
    /// <param name="builder">The web application's: <c>builder.WebHost.UseIpc()</c>.</param>
    /// <param name="configure">What is to differ.</param>
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

    /// <summary>Listens at an address of ipc: <c>kestrel.ListenIpc("shm://prices", listen => listen.Protocols = HttpProtocols.Http2)</c>, which is what gRPC
    /// needs.</summary>
    /// <param name="options">Kestrel's.</param>
    /// <param name="address">Where clients connect; over transports with channels: <c>shm</c>, <c>unix</c>, <c>pipe</c> and the like.</param>
    /// <param name="configure">Of this endpoint; HTTP/1.1 unless told.</param>
    /// <exception cref="IpcException">The address is none.</exception>
    public static void ListenIpc(this KestrelServerOptions options, string address, Action<ListenOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Listen(new IpcEndPoint(address), configure ?? (_ => { }));
    }
}
