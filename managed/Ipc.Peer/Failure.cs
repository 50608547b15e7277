using System.Text.Json;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>Ends the cell: what the event `failed` will say.</summary>
internal sealed class Failure(string status, string reason) : Exception(reason)
{
    public string Status { get; } = status;

    /// <summary>The cell itself cannot be played.</summary>
    public static Failure BadCell(string reason) => new("INVALID_ARGUMENT", reason);

    /// <summary>What arrived is not what was sent.</summary>
    public static Failure WrongContent(string reason) => new("WRONG_CONTENT", reason);

    public static Failure WrongLength(string what, int found, int expected) =>
        WrongContent($"the {what} has {found} bytes where {expected} are due: check that both peers got the same workload");

    public static Failure WrongSequence(string what, ulong found, ulong expected) =>
        WrongContent($"the {what} carries sequence {found} where {expected} is due: the transport lost, repeated or reordered one");

    /// <summary>Any exception as a failure.</summary>
    public static Failure From(Exception exception) => exception switch
    {
        Failure failure => failure,
        // Every buffer here fits what the workload says, so what does not fit is not what was sent.
        IpcException { Status: Ipc.IpcStatus.BufferTooSmall } => WrongContent(exception.Message),
        IpcException ipc => new Failure(NameOf(ipc.Status), ipc.Message),
        CodecException => WrongContent(exception.Message),
        OutOfMemoryException =>
            new Failure(NameOf(Ipc.IpcStatus.OutOfMemory), "the memory is used up: choose a smaller workload or a shorter measurement"),
        IOException or UnauthorizedAccessException => new Failure(NameOf(Ipc.IpcStatus.System), exception.Message),
        _ => new Failure(NameOf(Ipc.IpcStatus.System), $"unexpected {exception.GetType().Name}: {exception.Message}"),
    };

    /// <summary>TimedOut as TIMED_OUT, the way ipc.h writes it.</summary>
    private static string NameOf(IpcStatus status) => JsonNamingPolicy.SnakeCaseUpper.ConvertName(status.ToString());
}
