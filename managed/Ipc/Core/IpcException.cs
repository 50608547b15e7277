namespace Ipc;

/// <summary>A failed operation: a <see cref="Ipc.IpcStatus"/> for programs, an error message that names the thing and what to do for people. An
/// <see cref="IOException"/>, so that code written for streams and sockets handles it.</summary>
public sealed class IpcException : IOException
{
    /// <summary>Creates one with <see cref="IpcStatus.System"/>.</summary>
    public IpcException() : this(IpcStatus.System, "the system refused") { }
    /// <summary>Creates one with <see cref="IpcStatus.System"/> and an error message.</summary>
    public IpcException(string message) : this(IpcStatus.System, message) { }
    /// <summary>Creates one with <see cref="IpcStatus.System"/>, an error message and its cause.</summary>
    public IpcException(string message, Exception? inner) : this(IpcStatus.System, message, inner) { }
    /// <summary>Creates one.</summary>
    public IpcException(IpcStatus status, string message, Exception? inner = null) : base(message, inner) => Status = status;

    /// <summary>What went wrong, as the C ABI numbers it.</summary>
    public IpcStatus Status { get; }
    /// <summary>Whether the program must change, rather than the world.</summary>
    public bool IsCallersMistake => Status is > IpcStatus.Ok and < IpcStatus.NameInUse;
}
