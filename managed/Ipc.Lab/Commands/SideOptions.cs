using System.CommandLine;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;

namespace Ipc.Lab.Commands;

/// <summary>One side of one cell, checked and ready to be played by hand.</summary>
internal sealed record SideByHand(
    string Side, string Address, string Codec, string Scenario, WorkloadEntry Workload, TableEntry? Table,
    double Seconds, long? Count, int? Cpu, long Seed, bool Once, IReadOnlyList<ForeignPeer> Peers)
{
    public PeerCell ToCell(string role, string? samples) => new(
        role, Side, Address, Codec, Choices.ScenarioEntry(Scenario).PlayedAs, PeerWorkloads.Of(Workload.Id, Table), Seed, Cpu,
        WarmupSeconds: Math.Min(0.3, Seconds), Count is null ? Seconds : null, Count, samples)
    { InFlight = Choices.ScenarioEntry(Scenario).InFlight is > 0 and var calls ? calls : null };
}

/// <summary>The options `ipc serve` and `ipc drive` share.</summary>
internal sealed class SideOptions
{
    // Both commands use these when nothing is said, so that they meet.
    private const string SharedName = "by-hand";
    private const long SharedSeed = 1;

    private readonly Option<string?> _side = Options.Text("--side", string.Join(", ", Registry.Sides.Select(s => s.Id)) + "; native when omitted");
    private readonly Option<string?> _transport = Options.Text("--transport", $"transport, as transport://{SharedName}");
    private readonly Option<string?> _address = Options.Text("--address", "full address, e.g. shm://prices?wait=spin", "ADDRESS");
    private readonly Option<string?> _codec = Options.Text("--codec", "codec; the workload's first when omitted");
    private readonly Option<string?> _workload = Options.Text("--workload", $"workload, or sizes of your own as {OwnSizes.Example}; 1k-10k when omitted");
    private readonly Option<string?> _scenario = Options.Text("--scenario", "scenario; the workload's first when omitted");
    private readonly Option<double?> _seconds = Options.Number<double>("--seconds", "measured seconds (client)", "S");
    private readonly Option<long?> _count = Options.Number<long>("--count", "measure exactly so many operations instead (client)");
    private readonly Option<int?> _pin = Options.Number<int>("--pin", "CPU of this process", "CPU");
    private readonly Option<long?> _seed = Options.Number<long>("--seed", "decides payloads; must be the same on both sides");
    private readonly Option<bool> _once = Options.Flag("--once", "end when the first client leaves (server)");

    private readonly Option<string[]> _peer = PeerOptions.Create();
    private readonly TableOptions _table = new();

    public void AddTo(Command command)
    {
        foreach (var option in (Option[])[_side, _transport, _address, _codec, _workload, _scenario, _seconds, _count, _pin, _seed, _once])
            command.Add(option);
        command.Add(_peer);
        _table.AddTo(command);
    }

    /// <summary>Reads and checks; nothing is started on a mistake.</summary>
    /// <param name="mayChooseName">Whether the system may choose a port: for a server, not for the client that must find it.</param>
    public SideByHand Read(ParseResult parsed, bool mayChooseName)
    {
        var asked = _table.Read(parsed);
        var workload = Choices.WorkloadEntry(parsed.GetValue(_workload) ?? (asked is null ? "1k-10k" : "table"));
        if (asked is not null && workload.Table is null)
            throw new UserMistakeException($"--table is for workload 'table', not for '{workload.Id}'; omit one of the two");
        var scenario = Choices.Scenario(parsed.GetValue(_scenario) ?? workload.Scenarios[0]);
        if (!workload.Scenarios.Contains(scenario))
            throw new UserMistakeException(Choices.WhyNotOf(workload, "scenario", [scenario], workload.Scenarios));
        var codec = Choices.Codec(parsed.GetValue(_codec) ?? workload.Codecs[0]);
        if (!workload.Codecs.Contains(codec))
            throw new UserMistakeException(Choices.WhyNotOf(workload, "codec", [codec], workload.Codecs));
        if (!Choices.ScenarioEntry(scenario).Ipc)
            throw new UserMistakeException($"scenario '{scenario}' has no two sides; use `ipc run --scenario {scenario}`");
        if (Choices.ScenarioEntry(scenario).Starts)
            throw new UserMistakeException($"scenario '{scenario}' is about starting processes: use `ipc run --scenario {scenario}`");
        if (Choices.ScenarioEntry(scenario).Receiver is not null)
            throw new UserMistakeException($"scenario '{scenario}' needs a runner that compares what both ends counted; use `ipc run --scenario {scenario}`");
        var peers = PeerOptions.Read(parsed, _peer);
        var side = Choices.Side(parsed.GetValue(_side) ?? (peers.Count == 1 ? peers[0].Side : "native"), peers);
        var address = AddressOf(parsed.GetValue(_transport), parsed.GetValue(_address), mayChooseName);
        if (Registry.WhyNotAvailable(address.Split("://")[0], peers.Any(p => p.Side == side) ? "native" : side) is { Length: > 0 } why)
            throw new UserMistakeException(why);
        var table = asked is null ? workload.Table : TableFile.Check(asked);
        if (asked is null && table is not null && TableFile.WhyUnreadable(table) is { } unreadable)
            throw new UserMistakeException(unreadable);
        return new SideByHand(
            side, address, codec, scenario, workload, asked is null ? null : table, SecondsOf(parsed), CountOf(parsed),
            CpuOf(parsed.GetValue(_pin)), parsed.GetValue(_seed) ?? SharedSeed, parsed.GetValue(_once), peers);
    }

    private static string AddressOf(string? transport, string? address, bool mayChooseName)
    {
        if (address is not null && transport is not null)
            throw new UserMistakeException("--address names the transport already; omit --transport");
        if (address is null)
        {
            var spec = TransportSpec.Check(transport ?? throw new UserMistakeException("name what to use: --address transport://name, or --transport"));
            if (!mayChooseName && TransportSpec.IsNamedByPort(Registry.Transport(TransportSpec.IdOf(spec))))
                throw new UserMistakeException($"transport '{spec}' is found by its port; give the address `ipc serve` prints with --address");
            return TransportSpec.ToAddress(spec, SharedName);
        }
        try
        {
            IpcAddress.Parse(address);
            return address;
        }
        catch (IpcException e)
        {
            throw new UserMistakeException($"address '{address}' cannot be used: {ErrorMessage.Of(e)}");
        }
    }

    private double SecondsOf(ParseResult parsed)
    {
        var seconds = parsed.GetValue(_seconds);
        LaunchTiming.Check("--seconds", seconds);
        return seconds ?? 1.0;
    }

    private long? CountOf(ParseResult parsed) => parsed.GetValue(_count) switch
    {
        < 1 => throw new UserMistakeException($"--count {parsed.GetValue(_count)} measures nothing; give 1 or more"),
        var count => count,
    };

    private static int? CpuOf(int? cpu)
    {
        if (cpu is not { } wanted)
            return null;
        var allowed = Machine.CpuTopology.Read(Machine.SystemFiles.Real).Allowed;
        return allowed.Contains(wanted) ? wanted
            : throw new UserMistakeException($"CPU {wanted} cannot be used; this process may run on {string.Join(", ", allowed)}");
    }
}
