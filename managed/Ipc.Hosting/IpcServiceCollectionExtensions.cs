using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Ipc.Hosting;

/// <summary>Adds ipc servers and clients to a host.</summary>
public static class IpcServiceCollectionExtensions
{
    /// <summary>Adds a server that listens while the host runs. It holds no thread for a client that does not call; docs/dotnet.md lists the
    /// exceptions.</summary>
    /// <remarks>The options are checked when the host starts. If they are invalid, starting throws an <see cref="OptionsValidationException"/>; if the
    /// server cannot listen, an <see cref="IpcException"/>.</remarks>
    /// <param name="services">The services of the host.</param>
    /// <param name="name">The name of the options, and of the server in the log.</param>
    /// <param name="handler">Called once; returns the handler of all requests, which runs for several clients at once.</param>
    /// <returns>The options, to bind: <c>.Bind(configuration.GetSection("Prices"))</c>.</returns>
    public static OptionsBuilder<IpcServerHostOptions> AddIpcServer(this IServiceCollection services, string name,
        Func<IServiceProvider, AsyncRequestHandler> handler)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(handler);
        // Not AddHostedService, which adds one of a type only.
        services.AddSingleton<IHostedService>(provider => new IpcServerService(name, provider.GetRequiredService<IOptionsMonitor<IpcServerHostOptions>>(),
            handler(provider), provider.GetRequiredService<ILogger<IpcServerService>>()));
        return services.AddOptions<IpcServerHostOptions>(name)
            .Validate(options => IsAddress(options.Address), $"server '{name}': Address is no address; give one such as unix://{name}")
            .Validate(options => options.MaxClients > 0, $"server '{name}': MaxClients must be 1 or more")
            .Validate(options => options.CallsAtOnce > 0, $"server '{name}': CallsAtOnce must be 1 or more")
            .Validate(options => options.StopTimeout >= TimeSpan.Zero, $"server '{name}': StopTimeout must be 0 or more")
            .ValidateOnStart();
    }

    /// <summary>Adds a client as a keyed singleton, <c>[FromKeyedServices("prices")] IpcClient client</c>. It connects at its first call.</summary>
    /// <remarks>The options are checked when the host starts; if they are invalid, starting throws an <see cref="OptionsValidationException"/>.</remarks>
    /// <param name="services">The services of the host.</param>
    /// <param name="name">The key of the client, and the name of its options.</param>
    /// <returns>The options, to bind.</returns>
    public static OptionsBuilder<IpcClientHostOptions> AddIpcClient(this IServiceCollection services, string name)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        services.AddKeyedSingleton(name, (provider, _) =>
        {
            var options = provider.GetRequiredService<IOptionsMonitor<IpcClientHostOptions>>().Get(name);
            return new IpcClient(options.Address, new IpcClientOptions
            {
                Reconnect = options.Reconnect,
                FirstPause = options.FirstPause,
                LongestPause = options.LongestPause,
                Serializer = options.Serializer,
                Implementation = options.Implementation,
            });
        });
        return services.AddOptions<IpcClientHostOptions>(name)
            .Validate(options => IsAddress(options.Address), $"client '{name}': Address is no address; give one such as unix://{name}")
            .Validate(options => options.FirstPause > TimeSpan.Zero && options.LongestPause >= options.FirstPause,
                $"client '{name}': FirstPause must be above 0 and LongestPause no shorter")
            .ValidateOnStart();
    }

    private static bool IsAddress(string address)
    {
        try
        {
            IpcAddress.Parse(address);
            return true;
        }
        catch (IpcException)
        {
            return false;
        }
    }
}
