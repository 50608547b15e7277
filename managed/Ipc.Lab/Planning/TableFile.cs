using System.Globalization;
using System.Text;
using CsvHelper;

namespace Ipc.Lab.Planning;

/// <summary>Reads a user's table file before anything is started, so that a wrong one is an error message and not a failed cell.</summary>
internal static class TableFile
{
    private const int DefaultRows = 8;
    private static readonly string[] s_usualSeparators = [",", ";", "\t", "|"];

    /// <summary>The registry's form of what was asked, checked against the file itself.</summary>
    public static TableEntry Check(TableRequest request)
    {
        var path = Path.GetFullPath(request.File);
        // Shells make it hard to type a tab.
        var separator = request.Separator == "\\t" ? "\t" : request.Separator;
        if (separator.Length != 1 || !char.IsAscii(separator[0]))
            throw new UserMistakeException($"table separator '{request.Separator}' is not one ASCII character; give e.g. --table-separator ';'");
        var rows = Read(path, separator);
        CheckSeparator(path, separator, rows);
        var header = HeaderOf(request.Header, path, rows[0]);
        var data = request.Header == "first" ? rows[1..] : rows;
        if (data.Count == 0)
            throw new UserMistakeException($"table file '{path}' has no rows below its header; give one with data");
        if (data.FirstOrDefault(r => r.Length != header.Length) is { } odd)
            throw new UserMistakeException(
                $"table file '{path}': the row of id '{odd[0]}' has {odd.Length} fields, the header {header.Length}; check --table-separator "
                    + $"'{Shown(separator)}' and --table-header");
        var ids = request.Ids.Count > 0 ? request.Ids : [.. data.Take(DefaultRows).Select(r => r[0])];
        var fields = request.Fields.Count > 0 ? request.Fields : [.. header.Skip(1)];
        CheckNames(path, "field", fields, header);
        CheckNames(path, "id", ids, [.. data.Select(r => r[0])]);
        return new TableEntry(path, separator, request.Header == "first" ? null : header, ids, fields);
    }

    /// <summary>Why a table of the registry cannot be read here, or null.</summary>
    public static string? WhyUnreadable(TableEntry table) =>
        File.Exists(table.File) ? null : $"table file '{table.File}' does not exist; give one of your own with --table FILE";

    // A wrong separator shows in the first rows: they are not split, or not alike, and another one splits them all alike.
    private static void CheckSeparator(string path, string separator, List<string[]> rows)
    {
        const int Enough = 100;
        var first = rows.Take(Enough).ToList();
        if (first[0].Length > 1 && first.TrueForAll(r => r.Length == first[0].Length))
            return;
        var better = s_usualSeparators.Where(s => s != separator).FirstOrDefault(s => SplitsAlike(path, s, Enough));
        var split = first[0].Length == 1 ? "no row is split" : "its rows are not split alike";
        if (better is not null)
            throw new UserMistakeException($"table file '{path}': {split} by the separator '{Shown(separator)}'; its rows are split by "
                + $"'{Shown(better)}': add --table-separator '{Shown(better)}'");
        if (first[0].Length == 1)
            throw new UserMistakeException($"table file '{path}' has one column, the id, and nothing to ask for; name the character between its "
                + "fields with --table-separator if it has more");
    }

    private static bool SplitsAlike(string path, string separator, int rows)
    {
        try
        {
            var first = Read(path, separator, rows);
            return first[0].Length > 1 && first.TrueForAll(r => r.Length == first[0].Length);
        }
        catch (UserMistakeException)
        {
            return false;
        }
    }

    private static string Shown(string separator) => separator == "\t" ? "\\t" : separator;

    private static List<string[]> Read(string path, string separator, int most = int.MaxValue)
    {
        try
        {
            // Strict, as the peers are: text that is not UTF-8 would otherwise differ between two languages.
            using var text = new StreamReader(path, new UTF8Encoding(false, throwOnInvalidBytes: true));
            using var csv = CsvReader.Create(text, new CsvReaderOptions { Separator = separator[0], HasHeader = false });
            var rows = new List<string[]>();
            while (rows.Count < most && csv.Read())
                rows.Add(csv.Current.ToArray());
            return rows.Count > 0 ? rows : throw new UserMistakeException($"table file '{path}' is empty; give one with rows");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new UserMistakeException($"table file '{path}' cannot be read: {ErrorMessage.Of(e)}");
        }
        catch (DecoderFallbackException)
        {
            throw new UserMistakeException($"table file '{path}' is not UTF-8; save it as UTF-8");
        }
        catch (CsvFormatException e)
        {
            throw new UserMistakeException($"table file '{path}' is not a table with separator '{Shown(separator)}': {ErrorMessage.Of(e)}");
        }
    }

    private static string[] HeaderOf(string header, string path, string[] firstRow)
    {
        string[] names = header switch
        {
            "first" => firstRow,
            "none" => [.. Enumerable.Range(1, firstRow.Length).Select(i => i.ToString(CultureInfo.InvariantCulture))],
            _ => header.Split(';'),
        };
        return names.Distinct().Count() == names.Length
            ? names
            : throw new UserMistakeException($"table file '{path}': the header names a field twice; give the names with --table-header a;b;c");
    }

    private static void CheckNames(string path, string kind, IReadOnlyList<string> asked, string[] known)
    {
        var set = known.ToHashSet(StringComparer.Ordinal);
        if (asked.FirstOrDefault(name => !set.Contains(name)) is not { } missing)
            return;
        var shown = string.Join(", ", known.Take(20)) + (known.Length > 20 ? " ..." : "");
        throw new UserMistakeException($"table file '{path}' has no {kind} '{missing}'; it has {shown}");
    }
}
