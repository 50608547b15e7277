namespace Ipc;

/// <summary>The end of a call that was submitted; from <see cref="IpcChannel.Complete(Span{byte}, int)"/>.</summary>
public readonly struct IpcCompletion
{
    internal IpcCompletion(ulong tag, IpcStatus outcome, int length, string errorMessage) =>
        (Tag, Outcome, Length, ErrorMessage) = (tag, outcome, length, errorMessage);

    /// <summary>The tag given to <see cref="IpcChannel.Submit(ReadOnlySpan{byte}, ulong, int)"/>.</summary>
    public ulong Tag { get; }

    /// <summary>How the call ended: <see cref="IpcStatus.Ok"/>, <see cref="IpcStatus.HandlerFailed"/>, or why the channel ended. After
    /// <see cref="IpcStatus.BufferTooSmall"/> the call is still in flight, and its reply is kept until it is completed with a larger buffer.</summary>
    public IpcStatus Outcome { get; }

    /// <summary>The length of the reply in bytes.</summary>
    public int Length { get; }

    /// <summary>What went wrong, for a person; empty if nothing did.</summary>
    public string ErrorMessage { get; }

    /// <summary>Throws unless <see cref="Outcome"/> is <see cref="IpcStatus.Ok"/>.</summary>
    /// <exception cref="IpcException">The call failed.</exception>
    public void ThrowIfFailed()
    {
        if (Outcome != IpcStatus.Ok)
            throw new IpcException(Outcome, ErrorMessage);
    }
}
