using System.Text;
using CsvHelper;

namespace Ipc.Peer;

/// <summary>The file of workload `table`, held in memory; its first column is the id.</summary>
internal sealed class Table
{
    private readonly string _file;
    private readonly IReadOnlyList<string> _header;
    private readonly Dictionary<string, int> _columns = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string[]> _rows = new(StringComparer.Ordinal);
    private string? _firstId;
    private string? _lastId;

    private Table(string file, IReadOnlyList<string> header)
    {
        _file = file;
        _header = header;
        for (var column = 0; column < header.Count; column++)
            _columns.TryAdd(header[column], column);
    }

    /// <summary>Reads the file; a <see cref="Failure"/> names it and what is wrong with it.</summary>
    public static Table Read(TableEntry entry)
    {
        if (entry.Separator.Length != 1 || !char.IsAscii(entry.Separator[0]))
            throw Failure.BadCell($"the table's separator is '{entry.Separator}': it must be one ASCII character");
        try
        {
            // Strict, so that damaged text is noticed here and not as a difference between two languages.
            using var text = new StreamReader(entry.File, new UTF8Encoding(false, throwOnInvalidBytes: true));
            var options = new CsvReaderOptions { Separator = entry.Separator[0], HasHeader = false, MalformedData = CsvMalformedDataHandling.Throw };
            using var reader = CsvReader.Create(text, options);
            return Read(entry, reader);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Failure.BadCell($"the table {entry.File} cannot be opened: check its path and permissions ({e.Message})");
        }
        catch (DecoderFallbackException)
        {
            throw Failure.BadCell($"the table {entry.File} cannot be used: it is not UTF-8; save it as UTF-8");
        }
        catch (CsvFormatException e)
        {
            throw Failure.BadCell(
                $"the table {entry.File} cannot be used: row {e.RecordNumber} is no CSV with separator '{entry.Separator}': correct it");
        }
    }

    /// <summary>For each id its row's asked fields in order; <see cref="UnknownNameException"/> names an id or field that is not there.</summary>
    public Reply Answer(Request request)
    {
        var columns = Array.ConvertAll(request.Fields, ColumnOf);
        var cells = new string[request.Ids.Length * columns.Length];
        var next = 0;
        foreach (var id in request.Ids)
        {
            if (!_rows.TryGetValue(id, out var row))
                throw NoId(id);
            foreach (var column in columns)
                cells[next++] = row[column];
        }
        return new Reply { Sequence = request.Sequence, Columns = (uint)columns.Length, Cells = cells };
    }

    private static Table Read(TableEntry entry, CsvReader reader)
    {
        var header = entry.Header ?? (reader.Read() ? reader.Current.ToArray() : null)
            ?? throw Failure.BadCell($"the table {entry.File} is empty: name a file with a header and rows");
        var table = new Table(entry.File, header);
        while (reader.Read())
            table.Add(reader.Current.ToArray(), reader.RowNumber);
        return table;
    }

    private void Add(string[] row, long number)
    {
        if (row.Length != _header.Count)
        {
            throw Failure.BadCell(
                $"the table {_file} cannot be used: row {number} has {row.Length} cells where the header has {_header.Count}: make them equal");
        }
        // Of two rows with one id the first counts.
        _rows.TryAdd(row[0], row);
        _firstId ??= row[0];
        _lastId = row[0];
    }

    private int ColumnOf(string field) =>
        _columns.TryGetValue(field, out var column)
            ? column
            : throw new UnknownNameException($"the table {_file} has no field '{field}': ask for some of {string.Join(", ", _header)}");

    private UnknownNameException NoId(string id) => new(_firstId is null
        ? $"the table {_file} has no id '{id}': it has no rows at all"
        : $"the table {_file} has no id '{id}': its first column has {_rows.Count} ids from '{_firstId}' to '{_lastId}'");
}
