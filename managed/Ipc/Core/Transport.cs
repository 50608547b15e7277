namespace Ipc;

/// <summary>What a transport's room gives the library.</summary>
internal abstract class Transport
{
    public abstract Listener Listen(Address address);
    public abstract Channel Connect(Address address, int timeoutMilliseconds);
}

/// <summary>Transports by registry id. Each transport's file adds itself, so that nobody keeps a second list.</summary>
internal static class TransportTable
{
    private static readonly Dictionary<string, Transport> s_transports = [];

    public static void Add(string id, Transport transport) => s_transports.Add(id, transport);

    /// <summary>The transport of an address already checked against the registry.</summary>
    public static Transport Get(Address address) =>
        s_transports.TryGetValue(address.Transport, out var transport)
            ? transport
            : throw new IpcException(Status.NotAvailable, Registry.WhyNotAvailable(address.Transport, "managed"));
}
