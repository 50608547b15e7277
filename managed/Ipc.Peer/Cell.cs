using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ipc.Peer;

/// <summary>What this process has to play: the first line from the runner, docs/peer-protocol.md.</summary>
internal sealed record Cell(
    string Role, string Side, string Codec, string Scenario, WorkloadEntry Workload, ulong Seed, double WarmupSeconds,
    string? Address = null, int? Cpu = null, double? Seconds = null, long? Count = null, string? Samples = null,
    int Client = 0, int Clients = 1, int? Portion = null, int? Batch = null, double SettleSeconds = 0, int? InFlight = null, int? Threads = null,
    int? PauseUs = null, int? PoolBytes = null, string? Order = null)
{
    /// <summary>A client's number has 7 bits in a one-way message.</summary>
    private const int MostClients = 127;

    /// <summary>As many as one channel has.</summary>
    private const int MostInFlight = 256;

    private const int MostPoolBytes = 1 << 30;
    private const int MostIds = 10_000_000;
    private const int MostMessageBytes = 1_000_000_000;

    private static readonly string s_managedSide = "managed" + RuntimeFacts.SideSuffix;
    private static readonly string s_boundSide = "bound" + RuntimeFacts.SideSuffix;

    public bool IsBound => Side == s_boundSide || Side == HostProcess.Side;

    /// <summary>Messages of one sample, where each is too short to be timed alone.</summary>
    public int MessagesOfSample => Portion ?? 1000;

    public int MessagesOfBatch => Batch ?? 64;

    /// <summary>Sending threads of this client, each of which counts as one of <see cref="Clients"/>.</summary>
    public int SendingThreads => Threads ?? 1;

    /// <summary>Calls that scenario `pipelined` has in flight.</summary>
    public int CallsInFlight => InFlight ?? 1;

    /// <summary>How long this receiver of a broadcast pauses after every hundred messages.</summary>
    public TimeSpan Pause => TimeSpan.FromTicks((PauseUs ?? 0) * (TimeSpan.TicksPerMillisecond / 1000));

    /// <summary>Whether each message says when it was published (scenario `broadcast-last`).</summary>
    public bool IsStamped => Scenario == "broadcast-last";

    /// <summary>The kind of the address's transport: channel, call, queue or broadcast; empty where the process plays alone.</summary>
    public string TransportKind => Role == "alone" ? "" : Registry.Transport(Address!.Split("://")[0]).Kind;

    /// <summary>Reads the line; a <see cref="Failure"/> says what is wrong with it.</summary>
    public static Cell Parse(string line)
    {
        Cell cell;
        try
        {
            cell = JsonSerializer.Deserialize(line, CellJson.Default.Cell)
                ?? throw Failure.BadCell("the cell is null: send an object as docs/peer-protocol.md has it");
        }
        catch (JsonException e)
        {
            throw Failure.BadCell($"the cell cannot be read: send it as docs/peer-protocol.md has it ({e.Message})");
        }
        cell.Check();
        return cell;
    }

    private void Check()
    {
        Require(Role is "server" or "client" or "alone", "role", Role, "server, client or alone");
        if (HostProcess.IsHere)
            Require(Side == HostProcess.Side, "side", Side, $"{HostProcess.Side}, which ipc-hosted plays; other programs play other sides");
        else
            Require(Side == s_managedSide || Side == s_boundSide, "side", Side, $"{s_managedSide} or {s_boundSide}; other programs play other sides");
        Require(!HostProcess.IsHere || HostProcess.Plays(Scenario), "scenario", Scenario,
            $"one of those that side {HostProcess.Side} plays: see `ipc list sides`");
        Require(Role == "alone" == (Scenario == "serialize"), "role", Role, "alone in scenario serialize, server or client in every other");
        Require(Role == "alone" || !string.IsNullOrEmpty(Address), "address", Address, "an address such as shm://name");
        Require(double.IsFinite(WarmupSeconds) && WarmupSeconds is >= 0 and <= 3600, "warmup_seconds", WarmupSeconds, "0 to 3600");
        Require(SettleSeconds is >= 0 and <= 86400, "settle_seconds", SettleSeconds, "0 to 86400");
        Require(Clients is >= 1 and <= MostClients, "clients", Clients, $"1 to {MostClients}");
        Require(Threads is null or (>= 1 and <= MostClients), "threads", Threads, $"1 to {MostClients}");
        Require(Client >= 0 && (Client + 1L) * SendingThreads <= Clients, "client", Client, "a number from 0, below clients by threads");
        Require(Portion is null or (>= 1 and <= 1_000_000), "portion", Portion, "1 to 1000000");
        Require(Batch is null or (>= 1 and <= 65_536), "batch", Batch, "1 to 65536");
        Require(InFlight is null or (>= 1 and <= MostInFlight), "in_flight", InFlight, $"1 to {MostInFlight}");
        Require(PoolBytes is null or (>= 1 and <= MostPoolBytes), "pool_bytes", PoolBytes, $"1 to {MostPoolBytes}");
        Require(Order is null or "random" or "memory", "order", Order, "random or memory");
        Require(PauseUs is null or (>= 0 and <= 1_000_000), "pause_us", PauseUs, "0 to 1000000");
        CheckWorkload();
        if (Role == "server")
            return;
        Require(Count is not null || Seconds is > 0 and <= 86400, "seconds", Seconds, "above 0 and at most 86400, or give count");
        Require(Count is null or > 0, "count", Count, "above 0, or give seconds");
    }

    private void CheckWorkload()
    {
        Require(Workload.N is >= 0 and <= MostIds, "workload's n", Workload.N, $"0 to {MostIds}");
        Require(Workload.RequestBytes is >= 0 and <= MostMessageBytes, "workload's request_bytes", Workload.RequestBytes, $"0 to {MostMessageBytes}");
        Require(Workload.ReplyBytes is >= 0 and <= MostMessageBytes, "workload's reply_bytes", Workload.ReplyBytes, $"0 to {MostMessageBytes}");
        Require(Workload.Bucket is >= 1 and <= 1_000_000, "workload's bucket", Workload.Bucket, "1 to 1000000");
        Require(Workload.Rate is 0 or (>= 1 and <= 1e9), "workload's rate", Workload.Rate, "1 to 1000000000 a second, or 0 for as fast as they go");
        Require(Workload.Text is null or { Count: 0 or 2 }, "workload's text", Workload.Text?.Count, "two texts, question and answer");
    }

    private static void Require(bool good, string field, object? value, string wanted)
    {
        if (!good)
            throw Failure.BadCell(FormattableString.Invariant($"the cell's {field} is '{value}': it must be {wanted}"));
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, RespectRequiredConstructorParameters = true,
    RespectNullableAnnotations = true, GenerationMode = JsonSourceGenerationMode.Metadata)]
[JsonSerializable(typeof(Cell))]
internal sealed partial class CellJson : JsonSerializerContext;
