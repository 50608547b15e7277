using System.CommandLine;
using System.Globalization;
using Ipc.Lab.Running;

namespace Ipc.Lab.Commands;

/// <summary>`ipc serve`: plays the server of one cell by hand.</summary>
internal static class ServeCommand
{
    // A server waits for its client as long as its user likes.
    private static readonly TimeSpan s_forever = TimeSpan.FromDays(20);

    public static Command Create()
    {
        var options = new SideOptions();
        var command = new Command("serve", "Plays the server of one cell until Ctrl-C; `ipc drive` is its other end.");
        options.AddTo(command);
        command.SetAction(async (parsed, _) =>
        {
            var side = options.Read(parsed, mayChooseName: true);
            var program = Programs.OfThisTree(side.Peers).Peer(side.Side);
            using var interruption = new Interruption();
            return await ServeAsync(side, program, interruption.Stop).ConfigureAwait(false);
        });
        return command;
    }

    // A peer serves one client and ends; its successor listens at the same address.
    private static async Task<int> ServeAsync(SideByHand side, ProgramFile program, CancellationToken stop)
    {
        try
        {
            do
            {
                var (address, served) = await ServeOneAsync(side, program, stop).ConfigureAwait(false);
                Console.Out.WriteLine($"the client left after {served} exchanges, all right");
                side = side with { Address = address };
            }
            while (!side.Once);
            return ExitCodes.Success;
        }
        catch (OperationCanceledException)
        {
            return ExitCodes.Interrupted;
        }
        catch (PeerFailure failure)
        {
            await Console.Error.WriteLineAsync(failure.Message).ConfigureAwait(false);
            return ExitCodes.Failed;
        }
    }

    private static async Task<(string Address, string Served)> ServeOneAsync(SideByHand side, ProgramFile program, CancellationToken stop)
    {
        await using var server = new Peer(program, "server", "served");
        await server.SendAsync(side.ToCell("server", samples: null)).ConfigureAwait(false);
        var ready = await server.ExpectAsync(LaunchBounds.Usual.Start, stop, "ready").ConfigureAwait(false);
        var address = ready.Text("address") ?? side.Address;
        Console.Out.WriteLine($"{side.Side} server at {address}: {side.Scenario} {side.Workload.Id} {side.Codec}; Ctrl-C ends it");
        var served = await server.ExpectAsync(s_forever, stop, "served").ConfigureAwait(false);
        await server.EndAsync(LaunchBounds.Usual.Answer).ConfigureAwait(false);
        var operations = served.Body.TryGetProperty("operations", out var n) && n.TryGetInt64(out var count) ? count : 0;
        return (address, operations.ToString(CultureInfo.InvariantCulture));
    }
}
