using System.ServiceModel;

namespace Ipc.Wcf;

/// <summary>Our failures as WCF's programs expect them; the error message stays.</summary>
internal static class IpcFailures
{
    public static Exception Translate(IpcException failure) => failure.Status switch
    {
        IpcStatus.TimedOut => new TimeoutException(failure.Message, failure),
        IpcStatus.NoServer => new EndpointNotFoundException(failure.Message, failure),
        IpcStatus.NameInUse => new AddressAlreadyInUseException(failure.Message, failure),
        IpcStatus.NoPermission => new AddressAccessDeniedException(failure.Message, failure),
        IpcStatus.MessageTooLarge or IpcStatus.PeerTooLarge => new QuotaExceededException(failure.Message, failure),
        IpcStatus.Closed => new CommunicationObjectAbortedException(failure.Message, failure),
        IpcStatus.NotOurProtocol => new ProtocolException(failure.Message, failure),
        _ => new CommunicationException(failure.Message, failure),
    };

    /// <summary>Milliseconds of a WCF time-out; more than a channel can count is none.</summary>
    public static int Milliseconds(TimeSpan timeout) =>
        timeout.TotalMilliseconds >= int.MaxValue ? Timeout.Infinite : Math.Max(0, (int)timeout.TotalMilliseconds);
}
