using System.Globalization;
using System.Text.RegularExpressions;

namespace Ipc.Lab.Planning;

/// <summary>Workloads that the registry does not list: raw messages of the user's own sizes, named by these, as 200-1500 or 2k-64k. With a reply of 0
/// bytes they are also messages that nobody answers.</summary>
internal static partial class OwnSizes
{
    public const string Example = "200-1500";

    /// <summary>How to name one, for error messages and help.</summary>
    public const string Form = $"the bytes of request (1 to 1000M) and reply (0 to 1000M), as {Example} or 2k-64k";

    private const int MostBytes = 1_000_000_000;

    private static readonly string[] s_answered =
        ["call", "handler", "one-cpu", "reconnect", "pipelined", "pipelined-1", "pipelined-8", "pipelined-256"];

    private static readonly string[] s_unanswered = ["oneway", "oneway-batch", "fanin", "broadcast", "call", "handler"];

    /// <summary>What `ipc list` says of them.</summary>
    public static string Summary { get; } =
        $"or other sizes of your own: {Form}; {string.Join(", ", s_answered)}, and with a reply of 0 {string.Join(", ", s_unanswered)}; raw";

    /// <summary>What a name means, or null if it is none of this form, or of sizes that no message has. Two spellings of the same sizes mean the
    /// same, which may be one of the registry's (1000-10000).</summary>
    public static WorkloadEntry? Find(string name) =>
        Pattern().Match(name) is { Success: true } match && BytesOf(match.Groups[1].Value) is { } request && BytesOf(match.Groups[2].Value) is { } reply
            ? Of(request, reply)
            : null;

    /// <summary>The workload of these sizes, or null if no message has them.</summary>
    public static WorkloadEntry? Of(int request, int reply)
    {
        // An empty request is the client's word that it has made its last call.
        if (request is < 1 or > MostBytes || reply is < 0 or > MostBytes)
            return null;
        var id = $"{NameOf(request)}-{NameOf(reply)}";
        return Registry.Workloads.FirstOrDefault(w => w.Id == id)
            ?? new WorkloadEntry(id, reply == 0 ? s_unanswered : s_answered, ["raw"], RequestBytes: request, ReplyBytes: reply);
    }

    private static int? BytesOf(string size)
    {
        var unit = size[^1] switch { 'k' => 1000, 'M' => 1_000_000, _ => 1 };
        var bytes = decimal.Parse(unit == 1 ? size : size[..^1], NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture) * unit;
        return bytes == decimal.Truncate(bytes) && bytes <= MostBytes ? (int)bytes : null;
    }

    private static string NameOf(int bytes) =>
        bytes == 0 || bytes % 1000 != 0 ? bytes.ToString(CultureInfo.InvariantCulture)
        : bytes % 1_000_000 != 0 ? string.Create(CultureInfo.InvariantCulture, $"{bytes / 1000}k")
        : string.Create(CultureInfo.InvariantCulture, $"{bytes / 1_000_000}M");

    [GeneratedRegex(@"^([0-9]{1,10}(?:\.[0-9]{1,6})?[kM]?)-([0-9]{1,10}(?:\.[0-9]{1,6})?[kM]?)\z", RegexOptions.CultureInvariant)]
    private static partial Regex Pattern();
}
