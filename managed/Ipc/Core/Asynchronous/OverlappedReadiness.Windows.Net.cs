using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Both halves of a channel over an overlapped stream.</summary>
[SupportedOSPlatform("windows")]
internal sealed class OverlappedReadiness(Readiness toReceive, Readiness toSend) : ChannelReadiness
{
    public override Readiness ToReceive => toReceive;
    public override Readiness ToSend => toSend;

    public override void Dispose()
    {
        // The stream ends what is under way once everybody has left.
    }
}
