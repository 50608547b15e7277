using Spectre.Console;

namespace Ipc.Lab.Reporting;

/// <summary>Standard output as Spectre sees it: colours and the terminal's width on a terminal, neither elsewhere.</summary>
internal static class Terminal
{
    // Nothing is wrapped in a file or pipe.
    private const int NoWidth = 10_000;

    public static IAnsiConsole Output { get; } = Create();

    private static IAnsiConsole Create()
    {
        if (!Console.IsOutputRedirected)
            return AnsiConsole.Console;
        var plain = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Out = new AnsiConsoleOutput(Console.Out),
        });
        plain.Profile.Width = NoWidth;
        return plain;
    }
}
