using System.CommandLine;
using Ipc.Lab.Planning;

namespace Ipc.Lab.Commands;

/// <summary>The options by which a user's own table is named and read; `ipc run`, `serve` and `drive` share them.</summary>
internal sealed class TableOptions
{
    private readonly Option<string?> _table = Options.File("--table",
        "a CSV file of your own for workload table, UTF-8, RFC 4180 quotes; its first column is the id", value: "FILE");
    private readonly Option<string> _separator = new("--table-separator")
    {
        HelpName = "C",
        Description = "the character between its fields, e.g. ',' or '\\t'",
        DefaultValueFactory = _ => ";"
    };
    private readonly Option<string> _header = new("--table-header")
    {
        HelpName = "NAMES",
        Description = "what names the fields: first (its first row), none (1, 2, 3 ...), or the names themselves, separated by semicolons",
        DefaultValueFactory = _ => "first",
    };
    private readonly Option<string?> _ids = Options.List("--ids", "rows to ask for, the first eight when omitted");
    private readonly Option<string?> _fields = Options.List("--fields", "columns to ask for, all when omitted");

    /// <summary>The option that names the file; the others only say how to read it.</summary>
    public Option File => _table;

    public void AddTo(Command command)
    {
        foreach (var option in (Option[])[_table, _separator, _header, _ids, _fields])
            command.Add(option);
    }

    /// <summary>What was asked for, or null without a file.</summary>
    public TableRequest? Read(ParseResult parsed)
    {
        if (parsed.GetValue(_table) is { } file)
            return new TableRequest(file, parsed.GetValue(_separator)!, parsed.GetValue(_header)!, parsed.Parts(_ids), parsed.Parts(_fields));
        foreach (var option in (Option[])[_separator, _header, _ids, _fields])
        {
            if (parsed.Has(option))
                throw new UserMistakeException($"{option.Name} says how to read a table file, but none is named; add --table FILE");
        }
        return null;
    }
}
