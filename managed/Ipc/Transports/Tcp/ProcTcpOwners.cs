using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Linux' table, /proc/net/tcp and tcp6: it tells users. Found under another path by programs under Wine, which itself
/// tells no owners; there the users of the system under it are the ones that count.</summary>
internal sealed class ProcTcpOwners(string proc) : TcpOwners
{
    private const string Listening = "0A";
    private const string ProcUnderWine = @"\\?\unix\proc";

    /// <summary>Null on Windows itself.</summary>
    [SupportedOSPlatform("windows")]
    public static ProcTcpOwners? UnderWine => Win32.UnderWine ? new ProcTcpOwners(ProcUnderWine) : null;

    public override string Self { get; } = "user " + EffectiveUser(proc);

    public override string? OwnerOf(IPEndPoint local, IPEndPoint remote, out bool isSure)
    {
        isSure = false;
        foreach (var (table, localKey, remoteKey) in Keys(local, remote))
        {
            foreach (var line in Lines(table))
            {
                // A socket without a file (inode 0) has been closed, or is not accepted yet.
                if (line.Local == localKey && line.Remote == remoteKey && line.Inode != "0")
                    return "user " + line.User;
            }
        }
        return null;
    }

    public override string? OwnerOfListener(IPEndPoint at)
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
                        return "user " + line.User;
                }
            }
        }
        return null;
    }

    private static string EffectiveUser(string proc)
    {
        // Uid: real, effective, saved, file system
        var line = File.ReadLines(Path.Combine(proc, "self", "status")).First(l => l.StartsWith("Uid:", StringComparison.Ordinal));
        return line.Split('\t', ' ')[2];
    }

    // An IPv4 connection stands in the table of IPv6 when that end was made as IPv6.
    private IEnumerable<(string Table, string Local, string Remote)> Keys(IPEndPoint local, IPEndPoint remote)
    {
        if (local.AddressFamily == AddressFamily.InterNetwork)
            yield return (Path.Combine(proc, "net", "tcp"), Key(local.Address, local.Port), Key(remote.Address, remote.Port));
        yield return (Path.Combine(proc, "net", "tcp6"), Key(local.Address.MapToIPv6(), local.Port), Key(remote.Address.MapToIPv6(), remote.Port));
    }

    // The table prints an address as the machine's own 32-bit numbers.
    private static string Key(IPAddress address, int port)
    {
        var bytes = address.GetAddressBytes();
        var words = Enumerable.Range(0, bytes.Length / 4).Select(i => BitConverter.ToUInt32(bytes, 4 * i).ToString("X8", CultureInfo.InvariantCulture));
        return FormattableString.Invariant($"{string.Concat(words)}:{port:X4}");
    }

    private static IEnumerable<(string Local, string Remote, string State, string User, string Inode)> Lines(string table)
    {
        if (!File.Exists(table))
            yield break;
        foreach (var line in File.ReadLines(table).Skip(1))
        {
            // number, local, remote, state, queues, timer, retransmits, user, time-out, inode ...
            var fields = line.Split(s_space, StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 9)
                yield return (fields[1], fields[2], fields[3], fields[7], fields[9]);
        }
    }

    private static readonly char[] s_space = [' '];
}
