namespace Ipc.Lab.Reporting;

/// <summary>Text in lines that fit a terminal of 80 columns, wherever it goes: what is piped is read on one, too.</summary>
internal static class TextLines
{
    public const int Width = 80;

    /// <summary>Writes a paragraph; its lines after the first begin below the first one's text.</summary>
    /// <param name="head">What the first line begins with.</param>
    /// <param name="hanging">Where the further lines begin; below the first one's text if null.</param>
    public static void Write(TextWriter output, string head, string text, int? hanging = null)
    {
        var margin = new string(' ', hanging ?? head.Length);
        var line = head;
        var isEmpty = true;
        foreach (var word in text.Split(' ').SelectMany(Parts))
        {
            if (!isEmpty && line.Length + 1 + word.Length > Width)
            {
                output.WriteLine(line);
                (line, isEmpty) = (margin, true);
            }
            line += isEmpty ? word : " " + word;
            isEmpty = false;
        }
        output.WriteLine(line.TrimEnd());
    }

    // A list without spaces (a,b,c) longer than half a line is broken after its commas.
    private static IEnumerable<string> Parts(string word)
    {
        while (word.Length > Width / 2 && word.LastIndexOf(',', Width / 2) is > 0 and var comma)
        {
            yield return word[..(comma + 1)];
            word = word[(comma + 1)..];
        }
        yield return word;
    }
}
