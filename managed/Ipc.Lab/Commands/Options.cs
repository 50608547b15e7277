using System.CommandLine;
using System.Globalization;
using System.Numerics;

namespace Ipc.Lab.Commands;

/// <summary>Options several commands share, made alike.</summary>
internal static class Options
{
    /// <param name="value">What stands for the value in the help.</param>
    public static Option<string?> Text(string name, string help, string value = "NAME") => new(name) { Description = help, HelpName = value };

    public static Option<bool> Flag(string name, string help) => new(name) { Description = help };

    /// <summary>A list separated by commas; whoever gives the option several times means all of them.</summary>
    public static Option<string?> List(string name, string help) => new(name)
    {
        Description = help + "; separate several by commas",
        HelpName = "LIST",
        Arity = ArgumentArity.OneOrMore,
        CustomParser = result => string.Join(',', result.Tokens.Select(token => token.Value)),
    };

    /// <summary>A file or folder. A script's empty variable is not one.</summary>
    public static Option<string?> File(string name, string help, bool valueMayBeMissing = false, string value = "DIR")
    {
        var option = new Option<string?>(name)
        {
            Description = help,
            HelpName = value,
            Arity = valueMayBeMissing ? ArgumentArity.ZeroOrOne : ArgumentArity.ExactlyOne
        };
        option.Validators.Add(result =>
        {
            if (result.Tokens.Any(t => string.IsNullOrWhiteSpace(t.Value)))
                result.AddError($"{name} names nothing; omit it or name one");
        });
        return option;
    }

    /// <summary>A number; anything else is refused in words a user knows.</summary>
    /// <remarks>A comma is refused, not skipped as a separator of thousands: half of the world writes 0,5 for a half.</remarks>
    public static Option<T?> Number<T>(string name, string help, string value = "N") where T : struct, INumber<T> => new(name)
    {
        Description = help,
        HelpName = value,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            var isWhole = typeof(T) != typeof(double);
            if (T.TryParse(text, isWhole ? NumberStyles.Integer : NumberStyles.Float, CultureInfo.InvariantCulture, out var number) && T.IsFinite(number))
                return number;
            result.AddError($"{name} '{text}' is not a {(isWhole ? "whole " : "")}number"
                + $"{(!isWhole && text.Contains(',', StringComparison.Ordinal) ? $"; write its decimals after a point, as in {text.Replace(',', '.')}" : "")}");
            return null;
        },
    };

    /// <summary>The parts of a list option; none when it was not given.</summary>
    public static IReadOnlyList<string> Parts(this ParseResult parsed, Option<string?> option) =>
        parsed.GetValue(option)?.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries) is { } parts
            ? parts.Length > 0 ? parts : throw new UserMistakeException($"{option.Name} names nothing; omit it or name one")
            : [];

    /// <summary>Whether the user gave an option.</summary>
    public static bool Has(this ParseResult parsed, Option option) => parsed.GetResult(option) is { Implicit: false };
}
