using System.Text;
using System.Text.RegularExpressions;

namespace Ipc.Lab.Planning;

/// <summary>A peer of somebody else's, in any language, that speaks docs/peer-protocol.md: a side of its own in pairs and results.</summary>
/// <param name="Side">Its name as a side.</param>
/// <param name="Command">What starts it: words, with quotes where a word has spaces.</param>
internal sealed partial record ForeignPeer(string Side, string Command)
{
    /// <summary>Reads <c>name=command</c>.</summary>
    public static ForeignPeer Parse(string text)
    {
        var equals = text.IndexOf('=', StringComparison.Ordinal);
        if (equals < 0)
            throw new UserMistakeException($"--peer '{text}' is not of the form name=command, e.g. python='python3 peer.py'");
        var peer = new ForeignPeer(text[..equals].Trim(), text[(equals + 1)..].Trim());
        if (!SideName().IsMatch(peer.Side))
            throw new UserMistakeException($"--peer '{text}': '{peer.Side}' cannot name a side; use small letters, digits and -, beginning with a letter");
        if (Registry.Sides.Any(s => s.Id == peer.Side))
            throw new UserMistakeException($"--peer '{text}': '{peer.Side}' is a side of the lab's own; choose another name");
        if (peer.Words().Count == 0)
            throw new UserMistakeException($"--peer '{text}' names no command; give e.g. {peer.Side}='python3 peer.py'");
        return peer;
    }

    /// <summary>The command's words; single and double quotes keep a word together.</summary>
    public IReadOnlyList<string> Words()
    {
        var words = new List<string>();
        var word = new StringBuilder();
        var (quote, begun) = ('\0', false);
        foreach (var c in Command)
        {
            if (quote != '\0' && c == quote)
                quote = '\0';
            else if (quote == '\0' && c is '"' or '\'')
                (quote, begun) = (c, true);
            else if (quote == '\0' && char.IsWhiteSpace(c))
            {
                if (begun)
                    words.Add(word.ToString());
                word.Clear();
                begun = false;
            }
            else
            {
                word.Append(c);
                begun = true;
            }
        }
        if (quote != '\0')
            throw new UserMistakeException($"--peer {Side}: a quote is not closed in {Command}");
        if (begun)
            words.Add(word.ToString());
        return words;
    }

    [GeneratedRegex("^[a-z][a-z0-9-]{0,31}$")]
    private static partial Regex SideName();
}
