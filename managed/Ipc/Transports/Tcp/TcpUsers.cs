using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Whose the other end of a loopback connection is, from the system's own table of sockets.</summary>
[SupportedOSPlatform("linux")]
internal static class TcpUsers
{
    private const string Listening = "0A";

    /// <summary>Whether an accepted connection comes from this user. A client that is gone again counts as unknown.</summary>
    public static bool IsOwnClient(Descriptor connection)
    {
        var server = TcpSocket.LocalEndPoint(connection);
        if (TcpSocket.RemoteEndPoint(connection) is not { } client || !IPAddress.IsLoopback(client.Address))
            return false;
        return Persistently(() => OwnerOf(client, server)) == Libc.EffectiveUser();
    }

    /// <summary>Refuses a server that belongs to another user, or of which that cannot be said.</summary>
    public static void CheckServer(Descriptor connection, IPEndPoint server, Address address)
    {
        var client = TcpSocket.LocalEndPoint(connection);
        // Until the server accepts, its end has no owner yet; then whoever listens there is asked for.
        var owner = Persistently(() => OwnerOf(server, client) ?? OwnerOfListener(server));
        if (owner == Libc.EffectiveUser())
            return;
        if (owner is null && HasEnded(connection))
            throw new IpcException(Status.NoServer, $"the server at {address} ended before it accepted this client: start it and connect again");
        throw new IpcException(Status.NoPermission, owner is null
            ? $"the system cannot say whose the server at {address} is: add users=any if it may be anybody's"
            : $"the server at {address} belongs to user {owner}, not to this one: run both as the same user, or add users=any");
    }

    // The table is no snapshot: a socket can be missed while others come and go.
    private static uint? Persistently(Func<uint?> look)
    {
        const int Looks = 3;
        uint? owner = null;
        for (var i = 0; owner is null && i < Looks; i++)
            owner = look();
        return owner;
    }

    private static bool HasEnded(Descriptor connection) =>
        (Libc.Poll(connection, Libc.POLLRDHUP, 0) & (Libc.POLLHUP | Libc.POLLRDHUP | Libc.POLLERR)) != 0;

    private static uint? OwnerOf(IPEndPoint local, IPEndPoint remote)
    {
        foreach (var (table, localKey, remoteKey) in Keys(local, remote))
        {
            foreach (var line in Lines(table))
            {
                // A socket without a file (inode 0) has been closed, or is not accepted yet.
                if (line.Local == localKey && line.Remote == remoteKey && line.Inode != "0")
                    return line.User;
            }
        }
        return null;
    }

    private static uint? OwnerOfListener(IPEndPoint at)
    {
        // The more exact listener is the one that gets the connection. One for IPv6 may serve IPv4 as well.
        IPEndPoint[] places = [at, new(IPAddress.Any, at.Port), new(IPAddress.IPv6Any, at.Port)];
        foreach (var place in places)
        {
            foreach (var (table, key, _) in Keys(place, place))
            {
                foreach (var line in Lines(table))
                {
                    if (line.State == Listening && line.Local == key)
                        return line.User;
                }
            }
        }
        return null;
    }

    // An IPv4 connection stands in the table of IPv6 when that end was made as IPv6.
    private static IEnumerable<(string Table, string Local, string Remote)> Keys(IPEndPoint local, IPEndPoint remote)
    {
        if (local.AddressFamily == AddressFamily.InterNetwork)
            yield return ("/proc/net/tcp", Key(local.Address, local.Port), Key(remote.Address, remote.Port));
        yield return ("/proc/net/tcp6", Key(local.Address.MapToIPv6(), local.Port), Key(remote.Address.MapToIPv6(), remote.Port));
    }

    // The table prints an address as the machine's own 32-bit numbers.
    private static string Key(IPAddress address, int port)
    {
        var bytes = address.GetAddressBytes();
        var words = Enumerable.Range(0, bytes.Length / 4).Select(i => BitConverter.ToUInt32(bytes, 4 * i).ToString("X8", CultureInfo.InvariantCulture));
        return FormattableString.Invariant($"{string.Concat(words)}:{port:X4}");
    }

    private static IEnumerable<(string Local, string Remote, string State, uint User, string Inode)> Lines(string table)
    {
        if (!File.Exists(table))
            yield break;
        foreach (var line in File.ReadLines(table).Skip(1))
        {
            // number, local, remote, state, queues, timer, retransmits, user, time-out, inode ...
            var fields = line.Split([' '], StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 9 && uint.TryParse(fields[7], NumberStyles.None, CultureInfo.InvariantCulture, out var user))
                yield return (fields[1], fields[2], fields[3], user, fields[9]);
        }
    }
}
