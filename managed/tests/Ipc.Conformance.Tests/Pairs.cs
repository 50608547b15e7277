using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>What the suite runs over: everything the registry says exists here. Nothing is listed by hand.</summary>
public static class Pairs
{
    /// <summary>Transport, server's side, client's side.</summary>
    public static TheoryData<string, string, string> Channels() => Of(In(Transports));

    /// <summary>As <see cref="Channels"/>, of the transports that have calls and no channel underneath.</summary>
    public static TheoryData<string, string, string> Calls() => Of(In(CallTransports));

    /// <summary>Both: all that a client can call over.</summary>
    public static TheoryData<string, string, string> Callable() => Of(In(CallableTransports));

    /// <summary>Transport, server's side, client's side, and each value of option wait (or none where there is no such option).</summary>
    public static TheoryData<string, string, string, string> ChannelsByWait() => ByWait(In(Transports));

    /// <summary>As <see cref="Channels"/>, of the transports whose two ends may wait differently.</summary>
    public static TheoryData<string, string, string> WaitingChannels() => Of(In(WaitingTransports));

    /// <summary>Transport and side.</summary>
    public static TheoryData<string, string> Sides() => SidesWhere(_ => true);

    /// <summary>As <see cref="Sides"/>, of all that a client can call over.</summary>
    public static TheoryData<string, string> CallableSides() => SidesOf(CallableTransports);

    /// <summary>Transport and side, of those that carry the frames of docs/wire-formats.md in a stream of bytes. A module's frames
    /// go through its foreign library, where no test can put bytes of its own.</summary>
    public static TheoryData<string, string> StreamSides() => SidesWhere(transport => !transport.ZeroCopy && transport.Module is null);

    /// <summary>Transport and side, of those that hand shared memory over a socket.</summary>
    public static TheoryData<string, string> HandoverSides() => SidesWhere(transport => transport.ZeroCopy);

    /// <summary>The values of option wait; none where the transport has no such option.</summary>
    internal static IReadOnlyList<string> Waits(TransportEntry transport) =>
        transport.Options.FirstOrDefault(option => option.Name == "wait")?.Choices!.Split(',') ?? [];

    internal static IEnumerable<TransportEntry> Transports => OfKind("channel");

    /// <summary>Those that have calls and no channel underneath.</summary>
    internal static IEnumerable<TransportEntry> CallTransports => OfKind("call");

    internal static IEnumerable<TransportEntry> CallableTransports => Transports.Concat(CallTransports);

    internal static IEnumerable<TransportEntry> WaitingTransports => Transports.Where(transport => Waits(transport).Count > 0);

    internal static TheoryData<string, string, string> Of(IEnumerable<(TransportEntry Transport, string Server, string Client)> pairs)
    {
        var data = new TheoryData<string, string, string>();
        foreach (var (transport, server, client) in pairs)
            data.Add(transport.Id, server, client);
        return data;
    }

    internal static TheoryData<string, string, string, string> ByWait(IEnumerable<(TransportEntry Transport, string Server, string Client)> pairs)
    {
        var data = new TheoryData<string, string, string, string>();
        foreach (var (transport, server, client) in pairs)
        {
            foreach (var wait in Waits(transport).DefaultIfEmpty(""))
                data.Add(transport.Id, server, client, wait);
        }
        return data;
    }

    private static IEnumerable<TransportEntry> OfKind(string kind) =>
        Registry.Transports.Where(transport => transport.Kind == kind && transport.Platforms.Contains(PuppetSystem.Platform) && Modules.AreHere(transport));

    private static TheoryData<string, string> SidesWhere(Func<TransportEntry, bool> wanted) => SidesOf(Transports.Where(wanted));

    private static TheoryData<string, string> SidesOf(IEnumerable<TransportEntry> transports)
    {
        var data = new TheoryData<string, string>();
        foreach (var transport in transports)
        {
            foreach (var side in SidesOf(transport))
                data.Add(transport.Id, side);
        }
        return data;
    }

    private static IEnumerable<(TransportEntry Transport, string Server, string Client)> In(IEnumerable<TransportEntry> transports) =>
        from transport in transports
        from server in SidesOf(transport)
        from client in SidesOf(transport)
        select (transport, server, client);

    private static IEnumerable<string> SidesOf(TransportEntry transport) =>
        // Sides of other runtimes have tests of their own: NetFxTests.
        Registry.Sides.Where(side => side.Runtime is null).Select(side => side.Id)
            .Where(side => Registry.WhyNotAvailable(transport.Id, side, PuppetSystem.Platform).Length == 0);
}
