using Ipc.Lab.Reporting;
using Spectre.Console;
using Xunit;

namespace Ipc.Lab.Tests.Reporting;

public sealed class TrimmingWriterTests
{
    [Fact]
    public void LinesEndWhereTheirTextEnds()
    {
        using var text = new StringWriter { NewLine = "\n" };
        using (var writer = new TrimmingWriter(text))
        {
            writer.Write("short   \n  a  line \r\n\nnot yet ");
            Assert.Equal("short\n  a  line\n\n", text.ToString());
            writer.Flush();
        }
        Assert.Equal("short\n  a  line\n\nnot yet ", text.ToString());
    }

    /// <summary>Columns are filled up to the longest row's width.</summary>
    [Fact]
    public void AGridHasNoSpacesAtTheEndsOfItsLines()
    {
        using var text = new StringWriter();
        using var writer = new TrimmingWriter(text);
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(writer) });
        console.Write(new Spectre.Console.Grid().AddColumn().AddColumn().AddRow("ok", "short").AddRow("warning", "a longer finding than that"));
        Assert.Equal(["ok       short", "warning  a longer finding than that"], text.ToString().TrimEnd().Split(Environment.NewLine));
    }
}
