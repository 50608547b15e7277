using System.Net;

namespace Ipc;

/// <summary>What the system tells of whose sockets are. Its table is no snapshot: a socket can be missed while others come and go.</summary>
internal abstract class TcpOwners
{
    /// <summary>That of the system we run on.</summary>
    public static TcpOwners Here { get; } =
        OperatingSystem.IsLinux() ? new LinuxTcpOwners()
        : !OperatingSystem.IsWindows() ? new ProcTcpOwners("/proc")
        : ProcTcpOwners.UnderWine ?? (TcpOwners)new WindowsTcpOwners();

    /// <summary>The user this process runs as, as the others are told.</summary>
    public abstract string Self { get; }

    /// <summary>Whose the end <paramref name="local"/> of a connection is; null when it is nobody's, or not yet.
    /// <paramref name="isSure"/>: another look would tell the same, as long as nothing happens to the connection.</summary>
    public abstract string? OwnerOf(IPEndPoint local, IPEndPoint remote, out bool isSure);

    /// <summary>Whether the server's end <paramref name="local"/> of a connection is still to be accepted, or its client's owner still to be looked at. A
    /// server tells that it has looked by turning keep-alive on, whose timer everybody sees in the system's table.</summary>
    public virtual bool IsToBeAdmitted(IPEndPoint local, IPEndPoint remote) => false; // Windows counts it as the listener's from the beginning

    /// <summary>Whose the socket is that listens there.</summary>
    public abstract string? OwnerOfListener(IPEndPoint at);
}
