namespace Ipc;

/// <summary>Opens channels, queues and broadcasts in pure .NET; no native library is loaded.</summary>
/// <remarks><c>Ipc.Native.NativeIpc</c> has the same members over the C library. Any thread may call any member.</remarks>
public sealed partial class ManagedIpc : IIpc
{
    private ManagedIpc()
    {
    }

    /// <summary>The same members as an object, for code that takes either implementation.</summary>
    public static IIpc Instance { get; } = new ManagedIpc();

    /// <inheritdoc cref="IIpc.Listen(string)"/>
    public static IpcListener Listen(string address)
    {
        var parsed = IpcAddress.Parse(address);
        return TransportTable.Get(parsed).Listen(parsed);
    }

    /// <inheritdoc cref="IIpc.Connect(string, int)"/>
    public static IpcChannel Connect(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Connect(parsed, timeoutMilliseconds);
    }

    /// <inheritdoc cref="IIpc.OpenQueue(string, int)"/>
    public static IpcQueue OpenQueue(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).OpenQueue(parsed, timeoutMilliseconds);
    }

    /// <inheritdoc cref="IIpc.RemoveQueue(string)"/>
    public static void RemoveQueue(string address)
    {
        var parsed = IpcAddress.Parse(address);
        TransportTable.Get(parsed).RemoveQueue(parsed);
    }

    /// <inheritdoc cref="IIpc.Publish(string)"/>
    public static Publisher Publish(string address)
    {
        var parsed = IpcAddress.Parse(address);
        return TransportTable.Get(parsed).Publish(parsed);
    }

    /// <inheritdoc cref="IIpc.Subscribe(string, int)"/>
    public static Subscriber Subscribe(string address, int timeoutMilliseconds = Timeout.Infinite)
    {
        var parsed = IpcAddress.Parse(address);
        CheckTimeout(timeoutMilliseconds);
        return TransportTable.Get(parsed).Subscribe(parsed, timeoutMilliseconds);
    }

    IpcListener IIpc.Listen(string address) => Listen(address);
    IpcChannel IIpc.Connect(string address, int timeoutMilliseconds) => Connect(address, timeoutMilliseconds);
    IpcQueue IIpc.OpenQueue(string address, int timeoutMilliseconds) => OpenQueue(address, timeoutMilliseconds);
    void IIpc.RemoveQueue(string address) => RemoveQueue(address);
    Publisher IIpc.Publish(string address) => Publish(address);
    Subscriber IIpc.Subscribe(string address, int timeoutMilliseconds) => Subscribe(address, timeoutMilliseconds);

    private static void CheckTimeout(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
    }
}
