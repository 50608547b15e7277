using System.Globalization;
using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>Standard output as Spectre sees it: colours and the terminal's width on a terminal, neither elsewhere.</summary>
internal static class Terminal
{
    // Nothing is wrapped in a file or pipe.
    private const int NoWidth = 10_000;
    private const int EasyWidth = 120;
    // A terminal that does not know its width says 0.
    private const int LeastWidth = 40;

    public static IAnsiConsole Output { get; } = Create();

    /// <summary>How wide the help is: the terminal, but no wider than is read with ease; the same in a file or pipe, where COLUMNS may say less.</summary>
    public static int HelpWidth()
    {
        var width = !Console.IsOutputRedirected ? Console.WindowWidth
            : int.TryParse(Environment.GetEnvironmentVariable("COLUMNS"), NumberStyles.None, CultureInfo.InvariantCulture, out var columns)
                ? columns
                : EasyWidth;
        return width < LeastWidth ? EasyWidth : Math.Min(width, EasyWidth);
    }

    private static IAnsiConsole Create()
    {
        if (!Console.IsOutputRedirected)
            return AnsiConsole.Console;
        var plain = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(new TrimmingWriter(Console.Out)),
        });
        plain.Profile.Width = NoWidth;
        return plain;
    }
}
