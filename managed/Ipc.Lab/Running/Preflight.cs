using System.Text.Json;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Running;

/// <summary>Asks a peer program what it is, before anything is measured.</summary>
internal static class Preflight
{
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(10);

    /// <summary>What several programs say of themselves, by side, without those that do not introduce themselves. They are asked at once, because a
    /// silent one is waited for.</summary>
    public static async Task<Dictionary<string, PeerEnvironment>> AskAllAsync(IReadOnlyList<(string Side, ProgramFile Program)> programs,
        CancellationToken stop)
    {
        var answers = await Task.WhenAll(programs.Select(p => AskAsync(p.Program, p.Side, stop))).ConfigureAwait(false);
        return programs.Zip(answers).Where(p => p.Second is not null).ToDictionary(p => p.First.Side, p => p.Second!);
    }

    /// <summary>The program's `environment`, or null if it does not introduce itself; its cells will then say why.</summary>
    public static async Task<PeerEnvironment?> AskAsync(ProgramFile program, string side, CancellationToken stop)
    {
        try
        {
            await using var process = ChildProcess.Start(program, []);
            // Introducing comes first of all; a cell that only builds and encodes once lets peers that first read their cell get there too.
            var cell = new PeerCell(
                "alone", side, "", "custom", "serialize", PeerWorkloads.Of("0.1k-1k", null),
                Seed: 1, Cpu: null, WarmupSeconds: 0.001, Seconds: null, Count: 1, Samples: null);
            await process.SendAsync(JsonSerializer.Serialize(cell, LabJson.Line)).ConfigureAwait(false);
            var line = await new BoundedLineReader(process.Output).ReadAsync().WaitAsync(s_bound, stop).ConfigureAwait(false);
            var first = line is null ? null : PeerEvent.Parse(line, "peer");
            return first?.Name == "environment" ? first.ToEnvironment() : null;
        }
        catch (Exception e) when (e is PeerFailure or TimeoutException or IOException or InvalidDataException)
        {
            return null;
        }
    }
}
