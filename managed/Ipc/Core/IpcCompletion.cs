namespace Ipc;

/// <summary>A call in flight that is over.</summary>
public readonly struct IpcCompletion
{
    internal IpcCompletion(ulong tag, IpcStatus outcome, int length, string errorMessage) =>
        (Tag, Outcome, Length, ErrorMessage) = (tag, outcome, length, errorMessage);

    /// <summary>As given to <see cref="IpcChannel.Submit(ReadOnlySpan{byte}, ulong, int)"/>.</summary>
    public ulong Tag { get; }

    /// <summary><see cref="IpcStatus.Ok"/>, <see cref="IpcStatus.HandlerFailed"/>, or why the channel ended.
    /// <see cref="IpcStatus.BufferTooSmall"/>: the reply stays and the call is in flight until it is completed with more room.</summary>
    public IpcStatus Outcome { get; }

    /// <summary>Of the reply, in bytes.</summary>
    public int Length { get; }

    /// <summary>For people; "" of a call that succeeded.</summary>
    public string ErrorMessage { get; }

    /// <summary>Throws the outcome unless it is <see cref="IpcStatus.Ok"/>.</summary>
    /// <exception cref="IpcException">The call failed.</exception>
    public void ThrowIfFailed()
    {
        if (Outcome != IpcStatus.Ok)
            throw new IpcException(Outcome, ErrorMessage);
    }
}
