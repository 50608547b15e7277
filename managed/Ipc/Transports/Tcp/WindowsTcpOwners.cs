using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Windows' table: it tells processes, and those their users.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WindowsTcpOwners : TcpOwners
{
    private const uint Listening = 2; // MIB_TCP_STATE_LISTEN
    private const int FirstSize = 64 * 1024;

    private readonly record struct Row(IPEndPoint Local, IPEndPoint Remote, uint State, uint Process);

    public override string Self => "user " + Win32.ThisUser;

    public override string? OwnerOf(IPEndPoint local, IPEndPoint remote, out bool isSure)
    {
        isSure = false;
        return Rows(local.AddressFamily).Where(row => row.Local.Equals(local) && row.Remote.Equals(remote)).Select(UserOf)
            .FirstOrDefault(user => user is not null);
    }

    public override string? OwnerOfListener(IPEndPoint at)
    {
        // The more exact listener is the one that gets the connection. One for IPv6 may serve IPv4 as well.
        IPEndPoint[] places = [at, new(IPAddress.Any, at.Port), new(IPAddress.IPv6Any, at.Port)];
        return places.SelectMany(place => Rows(place.AddressFamily).Where(row => row.State == Listening && row.Local.Equals(place)))
            .Select(UserOf).FirstOrDefault(user => user is not null);
    }

    private static string? UserOf(Row row) => row.Process != 0 && Win32.UserOfProcess(row.Process) is { } user ? "user " + user : null;

    private static List<Row> Rows(AddressFamily family)
    {
        var six = family == AddressFamily.InterNetworkV6;
        var rows = new List<Row>();
        var table = ReadTable(six ? Win32.AF_INET6 : Win32.AF_INET);
        if (table.Length == 0)
            return rows;
        // A count, then the rows: IPv4 state, local address and port, remote address and port, process;
        // IPv6 local address, scope and port, remote address, scope and port, state, process. All but addresses take 4 bytes.
        var size = six ? 56 : 24;
        var count = BitConverter.ToInt32(table, 0);
        for (var at = 4; count > 0 && at + size <= table.Length; count--, at += size)
        {
            rows.Add(six
                ? new Row(EndOf(table, at, 16, at + 20), EndOf(table, at + 24, 16, at + 44), BitConverter.ToUInt32(table, at + 48),
                    BitConverter.ToUInt32(table, at + 52))
                : new Row(EndOf(table, at + 4, 4, at + 8), EndOf(table, at + 12, 4, at + 16), BitConverter.ToUInt32(table, at),
                    BitConverter.ToUInt32(table, at + 20)));
        }
        return rows;
    }

    private static IPEndPoint EndOf(byte[] table, int address, int length, int port)
    {
        var bytes = new byte[length];
        Array.Copy(table, address, bytes, 0, length);
        return new IPEndPoint(new IPAddress(bytes), (table[port] << 8) | table[port + 1]);
    }

    // Empty when it cannot be had.
    private static byte[] ReadTable(int family)
    {
        uint size = FirstSize;
        for (var attempt = 0; attempt < 5; attempt++)
        {
            var table = new byte[size];
            fixed (byte* p = table)
            {
                var error = Win32.GetExtendedTcpTable(p, &size, 0, (uint)family, Win32.TCP_TABLE_OWNER_PID_ALL, 0);
                if (error == 0)
                    return table;
                if (error != Win32.ERROR_INSUFFICIENT_BUFFER)
                    return [];
            }
        }
        return [];
    }
}
