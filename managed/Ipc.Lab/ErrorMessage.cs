namespace Ipc.Lab;

/// <summary>Helps failures stay one error message.</summary>
internal static class ErrorMessage
{
    private const int Longest = 500;

    /// <summary>An exception's message on one line, without its final stop.</summary>
    public static string Of(Exception e) => OneLine(e.Message);

    /// <summary>Text on one line, without its final stop, cut where nobody reads on.</summary>
    public static string OneLine(string text)
    {
        var line = string.Join(' ', text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)).TrimEnd('.');
        return line.Length > Longest ? line[..Longest] + " ..." : line;
    }
}
