using System.Diagnostics.CodeAnalysis;

namespace Ipc;

/// <summary>Accepts clients at an address.</summary>
/// <remarks>Several threads may accept at once. <see cref="Close"/> and <see cref="Dispose()"/> may be called from any thread, at any time and more than
/// once.</remarks>
public abstract partial class IpcListener : IDisposable
{
    /// <summary>The address at which clients connect: the one given, completed by what the system chose, such as the port for
    /// <c>tcp://127.0.0.1:0</c>.</summary>
    public abstract string Address { get; }

    /// <summary>Waits for the next client.</summary>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; <see cref="Timeout.Infinite"/> waits indefinitely, 0 does not wait.</param>
    /// <returns>The connection to the client, which the caller disposes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.TimedOut"/>, <see cref="IpcStatus.Closed"/>, or <see cref="IpcStatus.System"/> when the process
    /// has run out of file descriptors or memory; the listener goes on.</exception>
    public abstract IpcChannel Accept(int timeoutMilliseconds = Timeout.Infinite);

    /// <summary>Accepts a client if one connects within the time-out; nothing is thrown if none does.</summary>
    /// <param name="channel">The connection to the client, which the caller disposes.</param>
    /// <param name="timeoutMilliseconds">The longest wait in milliseconds; by default the method does not wait.</param>
    /// <returns><see langword="true"/> if a client was accepted, <see langword="false"/> if the time-out expired.</returns>
    /// <exception cref="IpcException">As for <see cref="Accept(int)"/>, except the time-out.</exception>
    public bool TryAccept([NotNullWhen(true)] out IpcChannel? channel, int timeoutMilliseconds = 0)
    {
        try
        {
            channel = Accept(timeoutMilliseconds);
            return true;
        }
        catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
        {
            channel = null;
            return false;
        }
    }

    /// <summary>Stops listening and removes the name. Blocked accepts fail with <see cref="IpcStatus.Closed"/>; accepted channels go on.</summary>
    public abstract void Close();

    /// <summary>Closes and releases everything.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes and releases.</summary>
    /// <param name="disposing">Whether <see cref="Dispose()"/> was called, rather than a finalizer.</param>
    protected abstract void Dispose(bool disposing);
}
