namespace Ipc.Lab.Running;

/// <summary>A launch that did not go as docs/peer-protocol.md says: its cell fails with this reason.</summary>
/// <param name="status">The peer's own status, e.g. TIMED_OUT, or what the runner saw: ENDED_EARLY, NOT_THE_PROTOCOL, HUNG, WRONG_FIGURES.</param>
internal sealed class PeerFailure(string status, string reason) : Exception($"{status}: {reason}")
{
    public string Status { get; } = status;
    public string Reason { get; } = reason;

    /// <summary>Whether this is only what the other side's failure looks like from here.</summary>
    public bool IsConsequence => Status is "PEER_CLOSED" or "TRUNCATED" or "NO_SERVER";
}
