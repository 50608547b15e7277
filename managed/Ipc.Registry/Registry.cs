using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ipc;

/// <summary>The one list of transports, sides, codecs, scenarios and workloads: registry.json, carried inside this assembly.</summary>
public static class Registry
{
    private static readonly Lazy<RegistryFile> s_file = new(Load);

    /// <summary>The file's text.</summary>
    public static string Json
    {
        get
        {
            using var stream = typeof(Registry).Assembly.GetManifestResourceStream("ipc.registry.json")!;
            using var reader = new StreamReader(stream);
            return reader.ReadToEnd();
        }
    }

    /// <summary>Options every transport takes.</summary>
    public static IReadOnlyList<OptionEntry> CommonOptions => s_file.Value.CommonOptions;
    /// <summary>Ways to move bytes.</summary>
    public static IReadOnlyList<TransportEntry> Transports => s_file.Value.Transports;
    /// <summary>How a process is written.</summary>
    public static IReadOnlyList<SideEntry> Sides => s_file.Value.Sides;
    /// <summary>Objects to bytes and back.</summary>
    public static IReadOnlyList<CodecEntry> Codecs => s_file.Value.Codecs;
    /// <summary>Shapes of conversation.</summary>
    public static IReadOnlyList<ScenarioEntry> Scenarios => s_file.Value.Scenarios;
    /// <summary>Message sizes and counts.</summary>
    public static IReadOnlyList<WorkloadEntry> Workloads => s_file.Value.Workloads;

    /// <summary>A transport's entry; <see cref="IpcStatus.UnknownTransport"/> with the known ones if there is none.</summary>
    public static TransportEntry Transport(string id) =>
        Transports.FirstOrDefault(t => t.Id == id)
        ?? throw new IpcException(IpcStatus.UnknownTransport,
            $"there is no transport '{id}'; the transports are {string.Join(", ", Transports.Select(t => t.Id))}");

    /// <summary>An error message saying why a side of a transport cannot be had on this system, or "" if it can.</summary>
    public static string WhyNotAvailable(string transport, string side) =>
        WhyNotAvailable(transport, side, Platform);

    /// <summary>This system as the registry names it.</summary>
    public static string Platform { get; } = OperatingSystem.IsWindows() ? "windows" : OperatingSystem.IsLinux() ? "linux" : "this system";

    /// <summary>The same for a system as the registry names it: linux or windows.</summary>
    public static string WhyNotAvailable(string transport, string side, string platform)
    {
        var entry = Transport(transport);
        if (!entry.Platforms.Contains(platform))
            return $"transport '{transport}' exists on {string.Join(" and ", entry.Platforms)}, not on {platform}";
        if (entry.Sides.TryGetValue(side, out var why))
            return why;
        if (Sides.FirstOrDefault(s => s.Id == side) is not { Of: { } general })
            return $"transport '{transport}' has no '{side}' side";
        if (entry.Sides.TryGetValue(general, out var whyNotAtAll) && whyNotAtAll.Length > 0)
            return whyNotAtAll;
        if (general != "native")
            return $"transport '{transport}' is for .NET 10: older runtimes lack what it is made with";
        return entry.Module is null
            ? $"transport '{transport}' has no calls, which are all that the lab plays with 32-bit processes"
            : $"transport '{transport}' is built over a foreign library, which is there in the machine's own word size only";
    }

    /// <summary>What must stand beside every figure of a transport on this system, or null.</summary>
    public static string? NoteOf(string transport) =>
        Transport(transport).Notes?.TryGetValue(OperatingSystem.IsWindows() ? "windows" : "linux", out var note) == true ? note : null;

    /// <summary>An error message saying why this system cannot have an address's options, or null if it can.</summary>
    public static string? WhyRefused(IpcAddress address)
    {
        ArgumentNullException.ThrowIfNull(address);
        if (Transport(address.Transport).Refused?.TryGetValue(OperatingSystem.IsWindows() ? "windows" : "linux", out var refused) != true)
            return null;
        foreach (var (assignment, why) in refused!)
        {
            var (option, value) = (assignment[..assignment.IndexOf('=', StringComparison.Ordinal)],
                assignment[(assignment.IndexOf('=', StringComparison.Ordinal) + 1)..]);
            if (address.Option(option) == value)
                return $"{assignment}: {why}";
        }
        return null;
    }

    private static RegistryFile Load() =>
        JsonSerializer.Deserialize(Json, RegistryJson.Default.RegistryFile)
        ?? throw new InvalidOperationException("registry.json is empty");
}

/// <summary>One option of an address. Kind: choice (one of Choices, comma-separated), size (bytes with k, M, G) or count.</summary>
public sealed record OptionEntry(string Name, string Kind, string Default, string Help, string? Choices = null);

/// <summary>A transport's capabilities. Network: it reaches other machines. Hardened: a peer that misbehaves or dies cannot hurt the other. Detail:
/// what its summary, which fits a line of a list, leaves out. Sides: side id to "" or the reason it is missing. Notes: by platform, what must stand
/// beside every figure. Refused: by platform, which <c>option=value</c> cannot be had there, and why. MostInFlight: by platform, so many calls at once
/// whatever their length, because a client that waits for room there takes in no replies; all others have room for as many as a channel has.</summary>
public sealed record TransportEntry(
    string Id, string Summary, string NameForm, string Kind, IReadOnlyList<string> Platforms, bool ZeroCopy, bool Broadcast,
    string LargestMessage, string Floor, IReadOnlyDictionary<string, string> Sides, IReadOnlyList<OptionEntry> Options,
    IReadOnlyDictionary<string, string>? FloorWhen = null, ModuleEntry? Module = null, IReadOnlyDictionary<string, string>? Notes = null,
    IReadOnlyDictionary<string, IReadOnlyDictionary<string, string>>? Refused = null, string? Detail = null,
    bool Network = false, bool Hardened = true, IReadOnlyDictionary<string, int>? MostInFlight = null);

/// <summary>What a transport needs whose native side is a module, a shared library of its own over a foreign one: the package that
/// building it takes (Debian's name), and the program that must run meanwhile, with the package that has it.</summary>
public sealed record ModuleEntry(string Package, string? Daemon = null, string? DaemonPackage = null);

/// <summary>A side. Of and Runtime: of a side that is another one run in another way, that side's id and the way (<c>netfx</c>: .NET Framework, or
/// Mono off Windows; <c>hostfxr</c>: .NET 10 inside a native process; <c>aot</c>: compiled ahead of time, without a runtime; <c>x86</c>: a 32-bit
/// process); null where it is native or a process of .NET 10. Scenarios: those it plays; null: all.</summary>
public sealed record SideEntry(string Id, string Summary, string? Of = null, string? Runtime = null, IReadOnlyList<string>? Scenarios = null);

/// <summary>A codec; Objects is false for plain bytes. Scenarios and Sides: those it is measured in and on, with every workload that has objects;
/// null: those of the workloads that name it, on all sides.</summary>
public sealed record CodecEntry(
    string Id, string Summary, bool Objects, IReadOnlyList<string>? Scenarios = null, IReadOnlyList<string>? Sides = null);

/// <summary>A scenario; Ipc is false when one process plays it alone. Kinds: the kinds of transport it can be played over. Receiver: the role
/// (server or client) that receives one-way messages and measures; null where the client measures round trips. Clients: client processes. Threads:
/// sending threads of each of them, every one a client to the server. Portion: operations of one sample, divided down. Batch: messages of one batch; 0:
/// one by one. Platforms and Codecs: those it is played on and with; null: all. As: the scenario that both processes play, where this one differs only
/// in how they are started or how many there are. OneCpu: both are pinned to one CPU. Starts: an operation is starting both processes, timed by who
/// starts them. Footprint: who starts them reads their memory. InFlight: calls that the client has in flight at a time; 0: it calls and waits. Idle:
/// who starts the processes also reads what they take while nobody calls. Last: messages are published at a rate, and each is timed until the last
/// receiver has it. SlowClientPauseUs: microseconds that the last client pauses after every hundred messages, and which is then not timed; 0: none
/// pauses. KillsLastClient: who starts the processes kills the last client half-way, and times the others. PoolBytes: of the messages that each process
/// chooses from, every exchange with others; 0: all exchanges have the same. Order: in which it does, random or memory. Pairs: those it is played
/// between; null: all.</summary>
public sealed record ScenarioEntry(
    string Id, string Summary, bool Ipc, IReadOnlyList<string> Kinds, string? Receiver = null, int Clients = 1, int Threads = 1, int Portion = 1, int Batch = 0,
    IReadOnlyList<string>? Platforms = null, IReadOnlyList<string>? Codecs = null, string? As = null, bool OneCpu = false, bool Starts = false,
    bool Footprint = false,
    int InFlight = 0, bool Idle = false, bool Last = false, int SlowClientPauseUs = 0, bool KillsLastClient = false,
    int PoolBytes = 0, string? Order = null, IReadOnlyList<string>? Pairs = null)
{
    /// <summary>Whether what is timed is what the last client does to the others.</summary>
    public bool TimesAllButTheLast => SlowClientPauseUs > 0 || KillsLastClient;

    /// <summary>All that send or receive at the clients' end.</summary>
    public int ClientThreads => Clients * Threads;

    /// <summary>Whether one-way messages go as fast as they can, so that a figure is a message's share of the receiver's time.</summary>
    public bool IsStream => Receiver is not null && !Last;

    /// <summary>The scenario as processes know it.</summary>
    public string PlayedAs => As ?? Id;

    /// <summary>Whether it is played with a codec.</summary>
    public bool Takes(string codec) => Codecs?.Contains(codec) != false;

    /// <summary>Whether it is played between a pair.</summary>
    public bool IsBetween(string pair) => Pairs?.Contains(pair) != false;
}

/// <summary>A workload; N counts identifiers of object codecs, the sizes are those of the raw codec in bytes. Bucket: objects that go as one message, each of
/// these sizes. Rate: calls a second; 0: as fast as they go. Group: a name for all workloads that draw one curve together.</summary>
public sealed record WorkloadEntry(
    string Id, IReadOnlyList<string> Scenarios, IReadOnlyList<string> Codecs, int N = 0, int RequestBytes = 0, int ReplyBytes = 0,
    IReadOnlyList<string>? Text = null, IReadOnlyList<int>? PublishedCounts = null, TableEntry? Table = null,
    int Bucket = 1, double Rate = 0, string? Group = null);

/// <summary>What workload `table` asks of which file; the first column is the id. Header null: the file's first row names the fields.</summary>
public sealed record TableEntry(
    string File, string Separator, IReadOnlyList<string>? Header, IReadOnlyList<string> Ids, IReadOnlyList<string> Fields);

internal sealed record RegistryFile(
    IReadOnlyList<OptionEntry> CommonOptions, IReadOnlyList<TransportEntry> Transports, IReadOnlyList<SideEntry> Sides,
    IReadOnlyList<CodecEntry> Codecs, IReadOnlyList<ScenarioEntry> Scenarios, IReadOnlyList<WorkloadEntry> Workloads);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(RegistryFile))]
internal sealed partial class RegistryJson : JsonSerializerContext;
