namespace Ipc.Native;

public sealed unsafe partial class NativeIpc
{
    /// <inheritdoc cref="Connect(string, int)"/>
    /// <param name="address">The address, as for <see cref="Connect(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcChannel Connect(string address, TimeSpan timeout) => Connect(address, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="OpenQueue(string, int)"/>
    /// <param name="address">The address, as for <see cref="OpenQueue(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static IpcQueue OpenQueue(string address, TimeSpan timeout) => OpenQueue(address, TimeSpans.Milliseconds(timeout));

    /// <inheritdoc cref="Subscribe(string, int)"/>
    /// <param name="address">The address, as for <see cref="Subscribe(string, int)"/>.</param>
    /// <param name="timeout">The longest wait, rounded up to milliseconds; <see cref="Timeout.InfiniteTimeSpan"/> waits indefinitely and
    /// <see cref="TimeSpan.Zero"/> does not wait.</param>
    public static Subscriber Subscribe(string address, TimeSpan timeout) => Subscribe(address, TimeSpans.Milliseconds(timeout));
}
