using System.Text.Json.Serialization;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Advising;

/// <summary>What somebody needs of an IPC, as `ipc advise` asks.</summary>
/// <param name="Pattern">calls, oneway, broadcast or clients.</param>
/// <param name="RequestBytes">Of a request, or of a message.</param>
/// <param name="Rate">Messages a second that must be managed; null: as fast as they go.</param>
/// <param name="Platform">linux, windows or both.</param>
/// <param name="KeepOut">Whether another user of the machine must be kept out.</param>
/// <param name="SurviveCrash">Whether one end must go on soundly when the other is killed.</param>
/// <param name="Network">Whether the ends may be on two machines later.</param>
/// <param name="SpareCore">Whether a processor may be kept busy while nothing happens.</param>
internal sealed record Need(
    string Pattern, int RequestBytes, int ReplyBytes, double? Rate, string Server, string Client, string Platform, bool KeepOut, bool SurviveCrash,
    bool Network, bool SpareCore)
{
    public static readonly IReadOnlyList<string> Patterns = ["calls", "oneway", "broadcast", "clients"];
    public static readonly IReadOnlyList<string> Platforms = ["linux", "windows", "both"];

    // A receiver that waits adaptively has gone to sleep when messages come further apart than it spins (50 µs).
    private const double SleepsBelow = 10_000;

    // A message of one way carries its number and, where it is published, when that was.
    private const int LeastOfOneWay = 16;

    // As much as the largest of the registry moves; six launches of every candidate are a matter of a minute or two.
    private const long MostOfOwn = 32_000_000;

    public string Pair => $"{Server}:{Client}";

    public string Scenario => Pattern switch { "calls" => "call", "clients" => "fanin", var same => same };

    /// <summary>Whether the receiver sleeps between two messages.</summary>
    public bool Sleeps => Rate < SleepsBelow;

    /// <summary>The workload that is nearest in size, among those of codec raw: the transports are compared, not the codecs.</summary>
    public WorkloadEntry Workload => Registry.Workloads
        .Where(w => w.Scenarios.Contains(Scenario) && w.Codecs.Contains("raw") && w.Text is null)
        .MinBy(w => Distance(w.RequestBytes, RequestBytes) + (Scenario == "call" ? Distance(w.ReplyBytes, ReplyBytes) : 0))!;

    /// <summary>Messages of exactly the sizes asked for, or the nearest of the registry where the peers cannot play these or would take too long.</summary>
    [JsonIgnore]
    public WorkloadEntry OwnWorkload
    {
        get
        {
            var (nearest, isCall) = (Workload, Scenario == "call");
            var isListed = nearest.RequestBytes == RequestBytes && (!isCall || nearest.ReplyBytes == ReplyBytes);
            if (isListed || (!isCall && RequestBytes < LeastOfOneWay))
                return nearest;
            return OwnSizes.Of(RequestBytes, isCall ? ReplyBytes : 0) is { } own && own.RequestBytes + (long)own.ReplyBytes <= MostOfOwn ? own : nearest;
        }
    }

    /// <summary>Refuses what no transport could be judged by.</summary>
    public Need Check()
    {
        Choices.Check("pattern", Pattern, Patterns);
        Choices.Check("platform", Platform, Platforms);
        Choices.Side(Server, []);
        Choices.Side(Client, []);
        if (RequestBytes < 0 || ReplyBytes < 0)
            throw new UserMistakeException("--request and --reply are 0 bytes or more");
        return Rate is <= 0 ? throw new UserMistakeException("--rate must be above 0; omit it for as fast as possible") : this;
    }

    private static double Distance(int a, int b) => Math.Abs(Math.Log((a + 16.0) / (b + 16.0)));
}
