using System.CommandLine;
using System.Globalization;

namespace Ipc.Lab.Commands;

/// <summary>Options several commands share, made alike.</summary>
internal static class Options
{
    public static Option<string?> Text(string name, string help) => new(name) { Description = help };

    public static Option<bool> Flag(string name, string help) => new(name) { Description = help };

    /// <summary>A list separated by commas.</summary>
    public static Option<string?> List(string name, string help) => new(name) { Description = help + ", separated by commas" };

    /// <summary>A number; anything else is refused in words a user knows.</summary>
    public static Option<T?> Number<T>(string name, string help) where T : struct, IParsable<T> => new(name)
    {
        Description = help,
        CustomParser = result =>
        {
            if (T.TryParse(result.Tokens[0].Value, CultureInfo.InvariantCulture, out var number))
                return number;
            result.AddError($"{name} '{result.Tokens[0].Value}' is not a number it takes");
            return null;
        },
    };

    /// <summary>The parts of a list option; none when it was not given.</summary>
    public static IReadOnlyList<string> Parts(this ParseResult parsed, Option<string?> option) =>
        parsed.GetValue(option)?.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) is { } parts
            ? parts.Length > 0 ? parts : throw new UserMistakeException($"{option.Name} names nothing; leave it out or name one")
            : [];
}
