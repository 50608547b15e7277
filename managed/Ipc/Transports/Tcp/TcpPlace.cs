using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Ipc;

/// <summary>The host of a tcp address: <c>port</c> alone means 127.0.0.1, else <c>host:port</c> or <c>[ipv6]:port</c>.</summary>
internal sealed class TcpPlace
{
    private readonly string _host; // as written; empty for a port alone
    private readonly IpcAddress _address;

    private TcpPlace(string host, IpcAddress address)
    {
        _host = host;
        _address = address;
    }

    public static (TcpPlace Place, int Port) Parse(IpcAddress address)
    {
        var name = address.Name;
        var colon = name.LastIndexOf(':');
        var host = colon < 0 ? "" : name[..colon];
        var bracketed = host.StartsWith('[') && host.EndsWith(']');
        if (colon == 0 || (!bracketed && host.AsSpan().IndexOfAny('[', ']', ':') >= 0) ||
            !int.TryParse(name[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var port) || port > IPEndPoint.MaxPort)
            throw new IpcException(IpcStatus.BadAddress, $"'{address}' has no usable port: write tcp://port, tcp://host:port or tcp://[ipv6]:port");
        return (new TcpPlace(host, address), port);
    }

    /// <summary>The same place with the port the system chose, as it stands in an address.</summary>
    public string WithPort(int port) => FormattableString.Invariant($"{_host}{(_host.Length == 0 ? "" : ":")}{port}");

    /// <summary>The addresses of the host, at least one, IPv4 first.</summary>
    public IReadOnlyList<IPAddress> Resolve()
    {
        if (_host.Length == 0)
            return [IPAddress.Loopback];
        if (IPAddress.TryParse(_host.Trim('[', ']'), out var literal))
            return [literal];
        try
        {
            return [.. Dns.GetHostAddresses(_host).OrderBy(a => a.AddressFamily)];
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            throw new IpcException(IpcStatus.NoServer, $"the host '{_host}' in '{_address}' is not known here: check its name", e);
        }
    }
}

/// <summary>How far a tcp address may reach: the system can say whose the other end is only if it is on this machine.</summary>
internal static class TcpReach
{
    public static bool ChecksUsers(IpcAddress address) => address.Option("users") == "same";

    public static void Check(IPAddress reach, IpcAddress address)
    {
        if (ChecksUsers(address) && !IPAddress.IsLoopback(reach))
            throw new IpcException(IpcStatus.BadOption,
                $"'{address}' reaches beyond this machine, where users=same cannot be checked: add users=any, or use 127.0.0.1");
    }

    /// <summary>Tries the addresses that the name stands for, in order, until somebody listens; the first refusal if nobody does.</summary>
    public static IpcChannel ConnectToFirst(IpcAddress address, int timeoutMilliseconds, Func<IPEndPoint, IpcAddress, Deadline, IpcChannel> connectTo)
    {
        var (place, port) = TcpPlace.Parse(address);
        if (port == 0)
            throw new IpcException(IpcStatus.BadAddress, $"'{address}' has port 0, which only a listener can have: give the port it chose");
        var deadline = new Deadline(timeoutMilliseconds);
        IpcException? first = null;
        foreach (var candidate in place.Resolve())
        {
            Check(candidate, address);
            try
            {
                return connectTo(new IPEndPoint(candidate, port), address, deadline);
            }
            catch (IpcException e) when (e.Status == IpcStatus.NoServer)
            {
                first ??= e;
            }
        }
        throw first!;
    }
}
