namespace Ipc;

/// <summary>What went wrong. The numbers are those of <c>ipc.h</c>; below 32 the caller is wrong, from 32 on the environment.</summary>
public enum IpcStatus
{
    /// <summary>Nothing went wrong.</summary>
    Ok = 0,
    /// <summary>A null, negative or otherwise impossible argument.</summary>
    InvalidArgument = 1,
    /// <summary>Not of the form transport://name?option=value, or a name the transport cannot use.</summary>
    BadAddress = 2,
    /// <summary>No such transport in the registry.</summary>
    UnknownTransport = 3,
    /// <summary>Unknown option, or a value it does not take.</summary>
    BadOption = 4,
    /// <summary>Longer than the channel's limit (option max=); nothing was sent.</summary>
    MessageTooLarge = 5,
    /// <summary>The message stays where it is; ask again with room for it.</summary>
    BufferTooSmall = 6,
    /// <summary>Commit without reserve, release without peek, reply without request and the like.</summary>
    WrongState = 7,
    /// <summary>As many calls as may be are in flight on the channel: complete one, then submit again; nothing was sent.</summary>
    TooManyCalls = 8,

    /// <summary>Another listener has the name.</summary>
    NameInUse = 32,
    /// <summary>Nobody listens at the address.</summary>
    NoServer = 33,
    /// <summary>The other side belongs to another user, or the system refuses access.</summary>
    NoPermission = 34,
    /// <summary>The time-out passed.</summary>
    TimedOut = 35,
    /// <summary>The peer closed or died between two messages.</summary>
    PeerClosed = 36,
    /// <summary>This object was closed, here.</summary>
    Closed = 37,
    /// <summary>The peer closed or died in the middle of a message.</summary>
    Truncated = 38,
    /// <summary>The peer speaks something else or sent damaged bytes; the channel is broken.</summary>
    NotOurProtocol = 39,
    /// <summary>The peer announced a message over this channel's limit; the channel is broken.</summary>
    PeerTooLarge = 40,
    /// <summary>The transport does not exist on this system or a library it needs is missing.</summary>
    NotAvailable = 41,
    /// <summary>The peer's handler reported a failure.</summary>
    HandlerFailed = 42,
    /// <summary>Out of memory.</summary>
    OutOfMemory = 43,
    /// <summary>Any other refusal of the system.</summary>
    System = 44,
}
