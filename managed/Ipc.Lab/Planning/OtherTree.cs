using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ipc.Lab.Planning;

/// <summary>Another checkout whose programs are measured: what its registry knows decides which cells it can play.</summary>
internal sealed class OtherTree
{
    private readonly string _root;
    private readonly Dictionary<string, HashSet<string>> _known;

    /// <param name="folder">Its root, as the user named it.</param>
    public OtherTree(string folder)
    {
        _root = Path.GetFullPath(folder);
        var file = Path.Combine(_root, "registry.json");
        try
        {
            var registry = JsonNode.Parse(File.ReadAllText(file))!;
            _known = ((string[])["transports", "sides", "codecs", "scenarios", "workloads"]).ToDictionary(
                list => list, list => registry[list]!.AsArray().Select(entry => (string)entry!["id"]!).ToHashSet());
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"'{_root}' is not a checkout of ipc: it has no registry.json; name the root of one that is built");
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or NullReferenceException)
        {
            throw new UserMistakeException($"'{file}' is not a registry of ipc: {ErrorMessage.Of(e)}");
        }
    }

    /// <summary>Why its programs cannot play a cell, or null if its registry knows everything in it.</summary>
    public string? WhyUnknown(Cell cell, IReadOnlyList<ForeignPeer> foreign) =>
        (cell.IsAlone ? null : Unknown("transports", cell.TransportId))
        ?? (foreign.Any(p => p.Side == cell.ServerSide) ? null : Unknown("sides", cell.ServerSide))
        ?? (foreign.Any(p => p.Side == cell.ClientSide) ? null : Unknown("sides", cell.ClientSide))
        ?? Unknown("codecs", cell.Codec) ?? Unknown("scenarios", cell.Scenario) ?? (IsOfOwnSizes(cell.Workload) ? null : Unknown("workloads", cell.Workload));

    // Its peers are told the sizes. Names of the registry have the same form.
    private static bool IsOfOwnSizes(string workload) => Registry.Workloads.All(w => w.Id != workload) && OwnSizes.Find(workload) is not null;

    private string? Unknown(string list, string id) => _known[list].Contains(id) ? null : $"the tree '{_root}' has no {list[..^1]} '{id}'";
}
