namespace Ipc;

/// <summary>What went wrong. The numbers are those of <c>ipc.h</c>: below 32 the program made a mistake, from 32 on something happened around it.</summary>
public enum IpcStatus
{
    /// <summary>Nothing went wrong.</summary>
    Ok = 0,
    /// <summary>An argument is null, negative or otherwise impossible.</summary>
    InvalidArgument = 1,
    /// <summary>The address is not of the form <c>transport://name?option=value</c>, or the transport cannot use the name.</summary>
    BadAddress = 2,
    /// <summary>There is no such transport.</summary>
    UnknownTransport = 3,
    /// <summary>The transport has no such option, or the option does not take the value.</summary>
    BadOption = 4,
    /// <summary>The message is longer than the limit (option <c>max=</c>); nothing was sent.</summary>
    MessageTooLarge = 5,
    /// <summary>The buffer is too small. The message stays where it is; try again with a larger buffer.</summary>
    BufferTooSmall = 6,
    /// <summary>The operation is not allowed now: commit without reserve, release without peek, reply without request and the like.</summary>
    WrongState = 7,
    /// <summary>256 calls are in flight on the channel; nothing was sent. Complete one, then submit again.</summary>
    TooManyCalls = 8,

    /// <summary>The name is taken by another listener or publisher.</summary>
    NameInUse = 32,
    /// <summary>Nobody listens at the address.</summary>
    NoServer = 33,
    /// <summary>The peer belongs to another user, or the system refuses access.</summary>
    NoPermission = 34,
    /// <summary>The time-out expired.</summary>
    TimedOut = 35,
    /// <summary>The peer closed the connection or died, between two messages.</summary>
    PeerClosed = 36,
    /// <summary>The object was closed or disposed on this side.</summary>
    Closed = 37,
    /// <summary>The peer closed the connection or died, in the middle of a message.</summary>
    Truncated = 38,
    /// <summary>The peer speaks another protocol or version, or sent damaged bytes; the channel is broken.</summary>
    NotOurProtocol = 39,
    /// <summary>The peer sends a message longer than this side's limit (option <c>max=</c>); the channel is broken.</summary>
    PeerTooLarge = 40,
    /// <summary>The transport or the operation does not exist here, or a library that it needs is missing.</summary>
    NotAvailable = 41,
    /// <summary>The server's handler failed; the error message is its own.</summary>
    HandlerFailed = 42,
    /// <summary>There is not enough memory.</summary>
    OutOfMemory = 43,
    /// <summary>The system refused for another reason, which the error message names.</summary>
    System = 44,
}
