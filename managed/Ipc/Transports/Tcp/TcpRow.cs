using System.Globalization;

namespace Ipc;

/// <summary>A line of the system's table of sockets.</summary>
/// <param name="State">Linux include/net/tcp_states.h.</param>
/// <param name="HasTimer">A timer of the system's runs for it: that of keep-alive, when nothing is under way.</param>
/// <param name="User">Null when no process has it any more, or none yet.</param>
internal readonly record struct TcpRow(byte State, bool HasTimer, uint? User)
{
    public const byte Established = 1, CloseWait = 8, Listening = 10;

    /// <summary>Whose it is, as others are told; null when nobody's, or not yet.</summary>
    public string? Owner => User is { } user ? "user " + user.ToString(CultureInfo.InvariantCulture) : null;

    /// <inheritdoc cref="TcpOwners.IsToBeAdmitted"/>
    // In any other state it has been accepted and closed.
    public bool IsToBeAdmitted => (State is Established or CloseWait) && !(User is not null && HasTimer);
}
