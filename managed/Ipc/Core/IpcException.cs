namespace Ipc;

/// <summary>A failed operation: a <see cref="Ipc.Status"/> for programs, a sentence that names the thing and what to do for people.</summary>
public sealed class IpcException : Exception
{
    /// <summary>Creates one with <see cref="Status.System"/>.</summary>
    public IpcException() : this(Status.System, "the system refused") { }
    /// <summary>Creates one with <see cref="Status.System"/> and a sentence.</summary>
    public IpcException(string message) : this(Status.System, message) { }
    /// <summary>Creates one with <see cref="Status.System"/>, a sentence and its cause.</summary>
    public IpcException(string message, Exception? inner) : this(Status.System, message, inner) { }
    /// <summary>Creates one.</summary>
    public IpcException(Status status, string message, Exception? inner = null) : base(message, inner) => Status = status;

    /// <summary>What went wrong, as the C ABI numbers it.</summary>
    public Status Status { get; }
    /// <summary>Whether the program must change, rather than the world.</summary>
    public bool IsCallersMistake => Status is > Status.Ok and < Status.NameInUse;
}
