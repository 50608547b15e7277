namespace Ipc.Lab;

/// <summary>Helps failures stay one sentence.</summary>
internal static class Sentence
{
    /// <summary>An exception's message on one line, without its final stop.</summary>
    public static string Of(Exception e) => OneLine(e.Message);

    /// <summary>Text on one line, without its final stop.</summary>
    public static string OneLine(string text) =>
        string.Join(' ', text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)).TrimEnd('.');
}
