namespace Ipc;

/// <summary>An operation failed. <see cref="Status"/> says why to the program; <see cref="Exception.Message"/> says to a person what failed and what to
/// do.</summary>
/// <remarks>It is an <see cref="IOException"/>, so code written for streams and sockets handles it. After a time-out its
/// <see cref="Exception.InnerException"/> is a <see cref="TimeoutException"/>; after the object was closed or disposed on this side, an
/// <see cref="ObjectDisposedException"/>.</remarks>
public sealed class IpcException : IOException
{
    /// <summary>Creates an exception with <see cref="IpcStatus.System"/>.</summary>
    public IpcException() : this(IpcStatus.System, "the system refused")
    {
    }

    /// <summary>Creates an exception with <see cref="IpcStatus.System"/>.</summary>
    /// <param name="message">What failed and what to do, for a person.</param>
    public IpcException(string message) : this(IpcStatus.System, message)
    {
    }

    /// <summary>Creates an exception with <see cref="IpcStatus.System"/>.</summary>
    /// <param name="message">What failed and what to do, for a person.</param>
    /// <param name="inner">What caused it.</param>
    public IpcException(string message, Exception? inner) : this(IpcStatus.System, message, inner)
    {
    }

    /// <summary>Creates an exception.</summary>
    /// <param name="status">What went wrong.</param>
    /// <param name="message">What failed and what to do, for a person.</param>
    /// <param name="inner">What caused it. If null, <see cref="IpcStatus.TimedOut"/> and <see cref="IpcStatus.Closed"/> get the exception that .NET has for
    /// them.</param>
    public IpcException(IpcStatus status, string message, Exception? inner = null) : base(message, inner ?? DotNetFor(status, message)) => Status = status;

    /// <summary>What went wrong. The numbers are those of the C library.</summary>
    public IpcStatus Status { get; }

    /// <summary>Whether the program made a mistake, such as a wrong argument or calls in a wrong order, rather than something having happened around
    /// it.</summary>
    public bool IsCallersMistake => Status is > IpcStatus.Ok and < IpcStatus.NameInUse;

    private static Exception? DotNetFor(IpcStatus status, string message) => status switch
    {
        IpcStatus.TimedOut => new TimeoutException(message),
        IpcStatus.Closed => new ObjectDisposedException(null, message),
        _ => null,
    };
}
