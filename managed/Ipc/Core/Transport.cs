namespace Ipc;

/// <summary>What a transport's room gives the library. Which members it overrides follows from the registry's kind.</summary>
internal abstract class Transport
{
    // kinds "channel" and "call" (Calls/: channels made of calls)
    public virtual Listener Listen(Address address) => throw OtherKind(address);
    public virtual Channel Connect(Address address, int timeoutMilliseconds) => throw OtherKind(address);

    // kind "queue"
    public virtual MessageQueue OpenQueue(Address address, int timeoutMilliseconds) => throw OtherKind(address);
    public virtual void RemoveQueue(Address address) => throw OtherKind(address);

    // kind "broadcast"
    public virtual Publisher Publish(Address address) => throw OtherKind(address);
    public virtual Subscriber Subscribe(Address address, int timeoutMilliseconds) => throw OtherKind(address);

    private static IpcException OtherKind(Address address) => new(Status.WrongState,
        $"transport '{address.Transport}' is of kind '{Registry.Transport(address.Transport).Kind}', which has other functions: see ManagedIpc");
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
