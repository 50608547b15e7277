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

    /// <summary>Whose the socket is that listens there.</summary>
    public abstract string? OwnerOfListener(IPEndPoint at);
}
