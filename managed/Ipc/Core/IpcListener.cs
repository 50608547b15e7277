namespace Ipc;

/// <summary>Waits for clients at an address. <see cref="Accept(int)"/> may be called by several threads; <see cref="Close"/> by any.</summary>
public abstract partial class IpcListener : IDisposable
{
    /// <summary>Where clients connect: the address given, with what the system chose put in (tcp port 0).</summary>
    public abstract string Address { get; }
    /// <summary>The next client. Failures are <see cref="IpcException"/>s.</summary>
    public abstract IpcChannel Accept(int timeoutMilliseconds = Timeout.Infinite);
    /// <summary>Stops listening, interrupts blocked accepts with <see cref="IpcStatus.Closed"/> and removes the name.</summary>
    public abstract void Close();

    /// <summary>Closes and releases.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    protected abstract void Dispose(bool disposing);
}
