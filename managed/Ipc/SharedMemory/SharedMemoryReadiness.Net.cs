namespace Ipc;

/// <summary>Both halves of a channel through shared memory.</summary>
/// <param name="toReceive">The word that the peer clears when it has sent something.</param>
/// <param name="toSend">The word that the peer clears when it has made room.</param>
/// <param name="peerWatch">What tells that the peer has died; ended first.</param>
internal sealed class SharedMemoryReadiness(ParkedWord toReceive, ParkedWord toSend, IDisposable peerWatch) : ChannelReadiness
{
    public override Readiness ToReceive => toReceive;
    public override Readiness ToSend => toSend;

    public override void Dispose()
    {
        peerWatch.Dispose();
        toReceive.Dispose();
        toSend.Dispose();
    }
}
