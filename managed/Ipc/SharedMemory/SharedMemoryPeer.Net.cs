namespace Ipc;

internal abstract unsafe partial class SharedMemoryPeer
{
    /// <summary>What asynchronous operations wait for, once, while the peer is there; null where nothing tells.</summary>
    /// <param name="receiving">The word that the peer clears when it has sent something.</param>
    /// <param name="sending">The word that the peer clears when it has made room.</param>
    /// <param name="peerMayHaveDied">Is told of that.</param>
    public abstract ChannelReadiness? CreateReadiness(uint* receiving, uint* sending, IReadyTarget peerMayHaveDied);
}
