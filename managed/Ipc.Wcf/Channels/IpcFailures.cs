using System.ServiceModel;

namespace Ipc.Wcf;

/// <summary>Our failures as WCF's programs expect them; the sentence stays.</summary>
internal static class IpcFailures
{
    public static Exception Translate(IpcException failure) => failure.Status switch
    {
        Status.TimedOut => new TimeoutException(failure.Message, failure),
        Status.NoServer => new EndpointNotFoundException(failure.Message, failure),
        Status.NameInUse => new AddressAlreadyInUseException(failure.Message, failure),
        Status.NoPermission => new AddressAccessDeniedException(failure.Message, failure),
        Status.MessageTooLarge or Status.PeerTooLarge => new QuotaExceededException(failure.Message, failure),
        Status.Closed => new CommunicationObjectAbortedException(failure.Message, failure),
        Status.NotOurProtocol => new ProtocolException(failure.Message, failure),
        _ => new CommunicationException(failure.Message, failure),
    };

    /// <summary>Milliseconds of a WCF time-out; more than a channel can count is none.</summary>
    public static int Milliseconds(TimeSpan timeout) =>
        timeout.TotalMilliseconds >= int.MaxValue ? Channel.Forever : Math.Max(0, (int)timeout.TotalMilliseconds);
}
