using System.Net;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Linux answers for one socket at a time; where it does not, its table is looked through.</summary>
[SupportedOSPlatform("linux")]
internal sealed class LinuxTcpOwners : TcpOwners
{
    private readonly SocketQuery _query = new();
    private readonly ProcTcpOwners _table = new("/proc");

    public override string Self => _table.Self;

    public override string? OwnerOf(IPEndPoint local, IPEndPoint remote, out bool isSure)
    {
        var answer = _query.Ask(local, remote, out var row);
        isSure = answer != TcpAnswer.Unknown;
        return isSure ? row.Owner : _table.OwnerOf(local, remote, out _);
    }

    public override bool IsToBeAdmitted(IPEndPoint local, IPEndPoint remote) => _query.Ask(local, remote, out var row) switch
    {
        TcpAnswer.Found => row.IsToBeAdmitted,
        TcpAnswer.Absent => false,
        _ => _table.IsToBeAdmitted(local, remote),
    };

    public override string? OwnerOfListener(IPEndPoint at) =>
        _query.AskListener(at, out var row) == TcpAnswer.Unknown ? _table.OwnerOfListener(at) : row.Owner;
}
