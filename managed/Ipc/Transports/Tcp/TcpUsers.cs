using System.Net;

namespace Ipc;

/// <summary>Whose the other end of a loopback connection is, from the system's own table of sockets.</summary>
internal static class TcpUsers
{
    private const int LooksAtOnce = 3;

    /// <summary>Whether an accepted connection comes from this user. A client that is gone again counts as unknown.</summary>
    public static bool IsOwnClient(IPEndPoint? client, IPEndPoint server, Func<bool> hasEnded)
    {
        if (client is null || !IPAddress.IsLoopback(client.Address))
            return false;
        // A table may miss a client, but there is no need to look again for one that has left.
        var isSure = false;
        return Persistently(() => TcpOwners.Here.OwnerOf(client, server, out isSure), () => isSure || hasEnded()) == TcpOwners.Here.Self;
    }

    /// <summary>Refuses a server that belongs to another user, or of which that cannot be said.</summary>
    public static void CheckServer(IPEndPoint client, IPEndPoint server, IpcAddress address, Func<bool> hasEnded)
    {
        // Until the server accepts, its end has no owner yet; then whoever listens there is asked for. A server that has ended has neither.
        var looks = 0;
        var owner = Persistently(() => TcpOwners.Here.OwnerOf(server, client, out _) ?? TcpOwners.Here.OwnerOfListener(server), () =>
            ++looks >= LooksAtOnce && hasEnded());
        if (owner == TcpOwners.Here.Self)
            return;
        if (owner is null && hasEnded())
            throw new IpcException(IpcStatus.NoServer, $"the server at {address} ended before it accepted this client: start it and connect again");
        throw new IpcException(IpcStatus.NoPermission, owner is null
            ? $"the system cannot say whose the server at {address} is: add users=any if it may be anybody's"
            : $"the server at {address} belongs to {owner}, not to this one: run both as the same user, or add users=any");
    }

    private static string? Persistently(Func<string?> look, Func<bool> isEnough)
    {
        // A socket can be missed while others come and go, and again while many do.
        const int Looks = 10;
        string? owner = null;
        for (var i = 0; owner is null && i < Looks; i++)
        {
            if (i >= LooksAtOnce)
                Thread.Sleep(1);
            owner = look();
            if (owner is null && isEnough())
                break;
        }
        return owner;
    }
}
