using System.CommandLine;
using Ipc.Lab.Reporting;
using Ipc.Lab.Results;
using Ipc.Lab.Running;
using Ipc.Lab.Statistics;

namespace Ipc.Lab.Commands;

/// <summary>`ipc drive`: plays the client of one cell by hand and prints what it measured.</summary>
internal static class DriveCommand
{
    public static Command Create()
    {
        var options = new SideOptions();
        var command = new Command("drive", "Plays the client of one cell against `ipc serve` and prints what it measured.");
        options.AddTo(command);
        command.SetAction(async (parsed, _) =>
        {
            var side = options.Read(parsed, mayChooseName: false);
            var program = Programs.OfThisTree(side.Peers).Peer(side.Side);
            using var interruption = new Interruption();
            return await DriveAsync(side, program, interruption.Stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task<int> DriveAsync(SideByHand side, ProgramFile program, CancellationToken stop)
    {
        var samplesFile = Path.Combine(Path.GetTempPath(), $"ipc-drive-{Guid.NewGuid():N}.u32");
        try
        {
            var (warm, measured, samples) = await MeasureAsync(side, program, samplesFile, stop).ConfigureAwait(false);
            Print(side, warm, measured, samples);
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
        finally
        {
            File.Delete(samplesFile);
        }
    }

    private static async Task<(Warm, Measured, uint[])> MeasureAsync(SideByHand side, ProgramFile program, string samplesFile, CancellationToken stop)
    {
        var bounds = LaunchBounds.Usual;
        await using var client = new Peer(program, "client", "measured");
        await client.SendAsync(side.ToCell("client", samplesFile)).ConfigureAwait(false);
        var warm = (await client.ExpectAsync(bounds.Start, stop, "warm").ConfigureAwait(false)).As<Warm>(client.Who);
        var clock = System.Diagnostics.Stopwatch.StartNew();
        await client.SendAsync(PeerCommand.Go).ConfigureAwait(false);
        var end = await client.ExpectAsync(bounds.ForMeasuring(side.Seconds, side.Count), stop, "measured").ConfigureAwait(false);
        var measured = end.As<Measured>(client.Who);
        var wall = clock.Elapsed;
        await client.EndAsync(bounds.Answer).ConfigureAwait(false);
        var samples = SampleFile.ReadRaw(samplesFile);
        Claims.Check(measured, wall, samples, side.Count, side.Workload.Rate > 0);
        return (warm, measured, samples);
    }

    private static void Print(SideByHand side, Warm warm, Measured measured, uint[] samples)
    {
        var bucket = side.Workload.Bucket;
        // Calls that come at a given rate, or wait for one another, have no rate of their own.
        var seconds = (side.Workload.Rate > 0 ? measured.ElapsedNs : samples.Sum(s => (long)s)) / 1e9;
        Array.Sort(samples);
        Console.Out.WriteLine($"{side.Side} client at {side.Address}: {side.Scenario} {side.Workload.Id} {side.Codec}");
        Console.Out.WriteLine(
            $"  operations  {measured.Operations * bucket}{(bucket > 1 ? $" objects, {bucket} to a call; times are of one object" : "")}, every one checked");
        foreach (var (name, parts) in ((string, int)[])[("p50", 5000), ("p90", 9000), ("p99", 9900), ("p99.9", 9990), ("p99.99", 9999)])
            Console.Out.WriteLine($"  {name,-10}  {Units.Time(Percentiles.At(samples, parts) / bucket)}");
        Console.Out.WriteLine($"  max         {Units.Time(samples[^1] / (double)bucket)}");
        Console.Out.WriteLine($"  rate        {Units.Rate(measured.Operations * bucket / seconds)}, {Units.BytesPerSecond(measured.Bytes / seconds)}");
        Console.Out.WriteLine($"  first call  {Units.Time(warm.ColdNs)} with connecting");
    }
}
