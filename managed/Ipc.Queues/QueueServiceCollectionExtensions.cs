using Ipc.Queues;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registration of queues with a container.</summary>
public static class QueueServiceCollectionExtensions
{
    /// <summary>Registers <see cref="IQueueFactory"/> as a singleton, in pure .NET, unless there is one already.</summary>
    public static IServiceCollection AddInterprocessQueue(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        services.TryAddSingleton<IQueueFactory>(new QueueFactory());
        return services;
    }
}
