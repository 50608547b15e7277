namespace Ipc;

/// <summary>What a transport's room gives the library. Which members it overrides follows from the registry's kind.</summary>
internal abstract class Transport
{
    // kinds "channel" and "call" (Calls/: channels made of calls)
    public virtual IpcListener Listen(IpcAddress address) => throw OtherKind(address);
    public virtual IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) => throw OtherKind(address);

    // kind "queue"
    public virtual IpcQueue OpenQueue(IpcAddress address, int timeoutMilliseconds) => throw OtherKind(address);
    public virtual void RemoveQueue(IpcAddress address) => throw OtherKind(address);

    // kind "broadcast"
    public virtual Publisher Publish(IpcAddress address) => throw OtherKind(address);
    public virtual Subscriber Subscribe(IpcAddress address, int timeoutMilliseconds) => throw OtherKind(address);

    private static IpcException OtherKind(IpcAddress address) => new(IpcStatus.WrongState,
        $"transport '{address.Transport}' is of kind '{Registry.Transport(address.Transport).Kind}', which has other functions: see ManagedIpc");
}

/// <summary>Transports by registry id. Each transport's file adds itself, so that nobody keeps a second list.</summary>
internal static class TransportTable
{
    private static readonly Dictionary<string, Transport> s_transports = [];

    public static void Add(string id, Transport transport) => s_transports.Add(id, transport);

    /// <summary>The transport of an address already checked against the registry.</summary>
    public static Transport Get(IpcAddress address) =>
        s_transports.TryGetValue(address.Transport, out var transport)
            ? transport
            : throw new IpcException(IpcStatus.NotAvailable, Registry.WhyNotAvailable(Registry.Transport(address.Transport)) is { Length: > 0 } why
                ? why
                : $"transport '{address.Transport}' is not opened by this library: see docs/{address.Transport.Split('-')[0]}.md");
}
