using Ipc.Queues;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds queues to a service collection.</summary>
public static class QueueServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IQueueFactory"/> in pure .NET as a singleton, unless there is one already.</summary>
    /// <param name="services">The services.</param>
    /// <returns>The same services.</returns>
    /// <exception cref="ArgumentNullException">The services are null.</exception>
    public static IServiceCollection AddInterprocessQueue(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.TryAddSingleton<IQueueFactory>(new QueueFactory());
        return services;
    }
}
