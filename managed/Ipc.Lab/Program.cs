using System.CommandLine;
using System.CommandLine.Help;
using System.Text;
using Ipc.Lab;
using Ipc.Lab.Commands;
using Ipc.Lab.Reporting;

return await Program.RunAsync(args).ConfigureAwait(false);

/// <summary>The `ipc` command.</summary>
internal static partial class Program
{
    public static async Task<int> RunAsync(string[] args)
    {
        // Windows would show the lab's signs (µ, ×) in the code page of its consoles.
        if (OperatingSystem.IsWindows())
            Console.OutputEncoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        StandardOutput.Use();
        try
        {
            return await InvokeAsync(args).ConfigureAwait(false);
        }
        catch (UserMistakeException mistake)
        {
            return await RefuseAsync(mistake.Message).ConfigureAwait(false);
        }
        catch (StandardOutputException e)
        {
            await Console.Error.WriteLineAsync($"standard output cannot be written: {ErrorMessage.Of(e)}; redirect it elsewhere, results are kept")
                .ConfigureAwait(false);
            return ExitCodes.Failed;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A full disk or a folder that went away in the middle of a run; whatever was written before is kept.
            await Console.Error.WriteLineAsync($"a file of the run cannot be used any more: {ErrorMessage.Of(e)}; mend that and continue with --resume")
                .ConfigureAwait(false);
            return ExitCodes.Failed;
        }
        catch (TypeInitializationException e) when (e.GetBaseException() is FileNotFoundException or FileLoadException)
        {
            await Console.Error.WriteLineAsync(
                $"the lab cannot load its own files: {ErrorMessage.Of(e.GetBaseException())}; is the number of open files limited (ulimit -n)?")
                .ConfigureAwait(false);
            return ExitCodes.Failed;
        }
    }

    private static async Task<int> InvokeAsync(string[] args)
    {
        // Not a RootCommand: that would call itself after the assembly.
        var root = new Command("ipc", "Measures inter-process communication between C++ and C# on this machine.")
        {
            new HelpOption { Action = new HelpAction { MaxWidth = Terminal.HelpWidth() } }, new VersionOption(),
            ListCommand.Create(), RunCommand.Create(), ReportCommand.Create(), CompareCommand.Create(), MatrixCommand.Create(), AdviseCommand.Create(),
            ServeCommand.Create(), DriveCommand.Create(), DoctorCommand.Create(),
        };
        var parsed = root.Parse(args);
        if (parsed.Errors.Count > 0)
            return await RefuseAsync(WhatIsWrong(parsed)).ConfigureAwait(false);
        // Commands handle Ctrl-C themselves: peers are to end in order and results to be kept.
        var configuration = new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };
        return await parsed.InvokeAsync(configuration).ConfigureAwait(false);
    }

    private static string WhatIsWrong(ParseResult parsed)
    {
        var command = parsed.CommandResult.Parent is null ? "ipc" : $"ipc {parsed.CommandResult.Command.Name}";
        var what = parsed.UnmatchedTokens.Count > 0
            ? $"`{command}` does not know '{parsed.UnmatchedTokens[0]}'"
            : ErrorMessage.OneLine(parsed.Errors[0].Message);
        return $"{what}; see `{command} --help`";
    }

    private static async Task<int> RefuseAsync(string errorMessage)
    {
        await Console.Error.WriteLineAsync(errorMessage).ConfigureAwait(false);
        return ExitCodes.UserMistake;
    }
}
