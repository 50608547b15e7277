using System.CommandLine;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;

namespace Ipc.Lab.Commands;

/// <summary>`ipc matrix`: the pairs of a run as tables, one per transport; scripts/matrix.sh measures them and calls this.</summary>
internal static class MatrixCommand
{
    public static Command Create()
    {
        var results = new Argument<string>("results") { Description = "a results folder or its results.json", HelpName = "DIR" };
        var command = new Command("matrix", "Shows the pairs of a run as tables: the server's side by the client's, one table per transport.") { results };
        command.SetAction(parsed =>
        {
            PairMatrix.Write(Terminal.Output, ResultsReader.Read(parsed.GetValue(results)!));
            return ExitCodes.Success;
        });
        return command;
    }
}
