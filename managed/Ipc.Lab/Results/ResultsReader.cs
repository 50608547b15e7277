using System.IO.Compression;
using System.Text.Json;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Results;

/// <summary>Reads the results of a finished or interrupted run.</summary>
internal static class ResultsReader
{
    private const string Plain = "results.json", Compressed = Plain + ".gz";

    /// <summary>Whether a folder holds results.</summary>
    public static bool HasResults(string folder) => File.Exists(FileIn(folder));

    /// <summary>When the results in a folder were written.</summary>
    public static DateTime WrittenUtc(string folder) => File.GetLastWriteTimeUtc(FileIn(folder));

    /// <param name="path">A results folder, or a results.json, which may be compressed (results.json.gz).</param>
    public static RunResults Read(string path)
    {
        if (string.IsNullOrWhiteSpace(path))
            throw new UserMistakeException("results are named by a folder or a results.json, not by nothing");
        var file = Directory.Exists(path) ? FileIn(path) : path;
        try
        {
            using var text = Open(file);
            using var json = JsonDocument.Parse(text);
            var number = LabJson.SchemaOf(json.RootElement)
                ?? throw new UserMistakeException($"'{file}' is not a results.json of this lab: it has no schema");
            if (number != RunResults.CurrentSchema)
                throw new UserMistakeException($"'{file}' has schema {number} and this lab reads schema {RunResults.CurrentSchema}; measure again");
            var results = LabJson.Read<RunResults>(json.RootElement, LabJson.Results);
            foreach (var cell in results.Cells)
                Check(cell.Cell, file);
            if (results.Cells.CountBy(c => c.Cell).FirstOrDefault(c => c.Value > 1).Key is { } twice)
                throw new UserMistakeException($"'{file}' is not a results.json of this lab: it has the cell {twice} more than once");
            return results;
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            throw new UserMistakeException($"there are no results: '{file}' does not exist; name the folder of a run or its results.json");
        }
        catch (JsonException e)
        {
            throw new UserMistakeException($"'{file}' is not a results.json of this lab: {ErrorMessage.Of(e)}");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or InvalidDataException)
        {
            throw new UserMistakeException($"'{file}' cannot be read as results: {ErrorMessage.Of(e)}");
        }
    }

    // What tables and charts ask the registry of a cell.
    private static void Check(Cell cell, string file)
    {
        try
        {
            Choices.CheckWords(cell);
        }
        catch (UserMistakeException e)
        {
            throw new UserMistakeException($"'{file}' has a cell that this lab does not know: {e.Message}");
        }
    }

    private static string FileIn(string folder)
    {
        var plain = Path.Combine(folder, Plain);
        var compressed = Path.Combine(folder, Compressed);
        return !File.Exists(plain) && File.Exists(compressed) ? compressed : plain;
    }

    private static Stream Open(string file)
    {
        var bytes = File.OpenRead(file);
        return file.EndsWith(".gz", StringComparison.OrdinalIgnoreCase) ? new GZipStream(bytes, CompressionMode.Decompress) : bytes;
    }
}
