namespace Ipc;

/// <summary>Time-outs as .NET has them, beside milliseconds.</summary>
internal static class TimeSpans
{
    /// <summary>Rounded up; <see cref="Timeout.InfiniteTimeSpan"/> is no end, and what is longer than 24 days is as good as none.</summary>
    public static int Milliseconds(TimeSpan timeout)
    {
        if (timeout == Timeout.InfiniteTimeSpan)
            return Timeout.Infinite;
        if (timeout < TimeSpan.Zero)
            throw new IpcException(IpcStatus.InvalidArgument, $"{timeout} is no time-out: give a time of 0 or more, or Timeout.InfiniteTimeSpan");
        return (int)Math.Min(int.MaxValue, Math.Ceiling(timeout.TotalMilliseconds));
    }
}

public abstract partial class IpcChannel
{
    /// <summary>As <see cref="Send(ReadOnlySpan{byte}, int)"/>, with a <see cref="TimeSpan"/>; <see cref="Timeout.InfiniteTimeSpan"/> waits without
    /// end.</summary>
    /// <exception cref="IpcException">As there; <see cref="IpcStatus.InvalidArgument"/> for a negative time.</exception>
    public void Send(ReadOnlySpan<byte> message, TimeSpan timeout) => Send(message, TimeSpans.Milliseconds(timeout));

    /// <summary>As <see cref="Receive(Span{byte}, int)"/>, with a <see cref="TimeSpan"/>; <see cref="Timeout.InfiniteTimeSpan"/> waits without
    /// end.</summary>
    /// <exception cref="IpcException">As there; <see cref="IpcStatus.InvalidArgument"/> for a negative time.</exception>
    public int Receive(Span<byte> buffer, TimeSpan timeout) => Receive(buffer, TimeSpans.Milliseconds(timeout));

    /// <summary>As <see cref="TryReceive(Span{byte}, out int, int)"/>, with a <see cref="TimeSpan"/>.</summary>
    /// <exception cref="IpcException">As there; <see cref="IpcStatus.InvalidArgument"/> for a negative time.</exception>
    public bool TryReceive(Span<byte> buffer, out int length, TimeSpan timeout) => TryReceive(buffer, out length, TimeSpans.Milliseconds(timeout));

    /// <summary>As <see cref="Call(ReadOnlySpan{byte}, Span{byte}, int)"/>, with a <see cref="TimeSpan"/>; <see cref="Timeout.InfiniteTimeSpan"/>
    /// waits without end.</summary>
    /// <exception cref="IpcException">As there; <see cref="IpcStatus.InvalidArgument"/> for a negative time.</exception>
    public int Call(ReadOnlySpan<byte> request, Span<byte> reply, TimeSpan timeout) => Call(request, reply, TimeSpans.Milliseconds(timeout));
}

public abstract partial class IpcListener
{
    /// <summary>As <see cref="Accept(int)"/>, with a <see cref="TimeSpan"/>; <see cref="Timeout.InfiniteTimeSpan"/> waits without end.</summary>
    /// <exception cref="IpcException">As there; <see cref="IpcStatus.InvalidArgument"/> for a negative time.</exception>
    public IpcChannel Accept(TimeSpan timeout) => Accept(TimeSpans.Milliseconds(timeout));

    /// <summary>As <see cref="Accept(int)"/> with a time-out of 0 or more, but false instead of a failure when nobody came.</summary>
    /// <exception cref="IpcException">As there, but for the time-out.</exception>
    public bool TryAccept([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out IpcChannel? channel, int timeoutMilliseconds = 0)
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
}
