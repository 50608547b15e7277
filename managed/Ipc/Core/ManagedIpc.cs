namespace Ipc;

/// <summary>Opens channels in pure .NET; no native library is loaded. The `bound` twin with the same calls over the C ABI is
/// <c>Ipc.Native.NativeIpc</c>.</summary>
public static class ManagedIpc
{
    /// <summary>Listens at an address such as <c>shm://prices?wait=spin</c>.</summary>
    public static Listener Listen(string address)
    {
        var parsed = Address.Parse(address);
        return TransportTable.Get(parsed).Listen(parsed);
    }

    /// <summary>Connects. <see cref="Status.NoServer"/> comes at once when nobody listens; the time-out bounds the handover.</summary>
    public static Channel Connect(string address, int timeoutMilliseconds = Channel.Forever)
    {
        var parsed = Address.Parse(address);
        if (timeoutMilliseconds < Channel.Forever)
            throw new IpcException(Status.InvalidArgument, $"{timeoutMilliseconds} is no time-out: give milliseconds, or Forever (-1)");
        return TransportTable.Get(parsed).Connect(parsed, timeoutMilliseconds);
    }
}
