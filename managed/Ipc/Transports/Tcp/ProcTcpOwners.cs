using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Linux' table, /proc/net/tcp and tcp6: it tells users. Found under another path by programs under Wine, which itself
/// tells no owners; there the users of the system under it are the ones that count.</summary>
internal sealed class ProcTcpOwners(string proc) : TcpOwners
{
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
                if (line.Local == localKey && line.Remote == remoteKey && line.Row.Owner is { } owner)
                    return owner;
            }
        }
        return null;
    }

    public override bool IsToBeAdmitted(IPEndPoint local, IPEndPoint remote) =>
        Keys(local, remote).Any(keys => Lines(keys.Table).Any(line => line.Local == keys.Local && line.Remote == keys.Remote && line.Row.IsToBeAdmitted));

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
                    if (line.Row is { State: TcpRow.Listening, Owner: { } owner } && line.Local == key)
                        return owner;
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

    private static IEnumerable<(string Local, string Remote, TcpRow Row)> Lines(string table)
    {
        if (!File.Exists(table))
            yield break;
        foreach (var line in File.ReadLines(table).Skip(1))
        {
            // number, local, remote, state, queues, timer, retransmits, user, time-out, inode ...
            var fields = line.Split(s_space, StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 9)
                yield return (fields[1], fields[2], RowOf(fields));
        }
    }

    // A socket without a file (inode 0) has been closed, or is not accepted yet. A timer is its kind and when it ends: 02:000AFC67.
    private static TcpRow RowOf(string[] fields) => new(
        byte.Parse(fields[3], NumberStyles.HexNumber, CultureInfo.InvariantCulture),
        !fields[5].StartsWith("00", StringComparison.Ordinal),
        fields[9] == "0" ? null : uint.Parse(fields[7], CultureInfo.InvariantCulture));

    private static readonly char[] s_space = [' '];
}
