using System.CommandLine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Commands;

/// <summary>`--peer name=command`, which may stand several times.</summary>
internal static class PeerOptions
{
    public static Option<string[]> Create() => new("--peer")
    {
        HelpName = "NAME=COMMAND",
        Description = "a peer of your own (docs/peer-protocol.md), e.g. python='python3 peer.py'; the name is its side in --pair and in the results",
    };

    public static IReadOnlyList<ForeignPeer> Read(ParseResult parsed, Option<string[]> option)
    {
        var peers = (parsed.GetValue(option) ?? []).Select(ForeignPeer.Parse).ToList();
        return peers.DistinctBy(p => p.Side).Count() == peers.Count ? peers
            : throw new UserMistakeException("two --peer have one name; each is a side of its own");
    }
}
