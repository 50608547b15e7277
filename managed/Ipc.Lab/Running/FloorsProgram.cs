using System.Globalization;
using System.Text.Json;
using Ipc.Lab.Planning;
using Ipc.Lab.Results;

namespace Ipc.Lab.Running;

/// <summary>Measures the floors with the native program `ipc-floors`.</summary>
internal sealed class FloorsProgram(ProgramFile program, TimeSpan bound)
{
    private sealed record Sizes(string Id, int RequestBytes, int ReplyBytes);

    /// <summary>One round of floors at the sizes of these workloads and at the smallest, against which cells without sizes of their own are held, and
    /// of one-way messages of these bytes. A failure is a record with a reason; only a stop throws.</summary>
    public Task<FloorRecord> MeasureAsync(int round, Pins pins, LaunchTiming timing, IEnumerable<string> workloads, IEnumerable<int> oneWaySizes,
        CancellationToken stop) =>
        MeasureAsync(round, Arguments(pins, timing, workloads.Append(FloorFigures.SmallestSize), oneWaySizes), stop);

    private async Task<FloorRecord> MeasureAsync(int round, string[] arguments, CancellationToken stop)
    {
        try
        {
            await using var process = ChildProcess.Start(program, arguments);
            var text = await ReadAsync(process, stop).ConfigureAwait(false);
            var code = await process.WaitAsync(TimeSpan.FromSeconds(2)).ConfigureAwait(false);
            if (code != 0)
            {
                var how = code is null ? "did not end after it had ended its output" : $"ended with exit code {code}";
                return new FloorRecord(round, null, $"the floors program {how}{process.LastWords()}");
            }
            return new FloorRecord(round, JsonSerializer.Deserialize<FloorFigures>(text, LabJson.Line), null);
        }
        catch (JsonException e)
        {
            return new FloorRecord(round, null, $"the floors program did not print one JSON object: {ErrorMessage.Of(e)}");
        }
        catch (InvalidDataException e)
        {
            return new FloorRecord(round, null, $"the floors program printed {ErrorMessage.Of(e)}");
        }
        catch (PeerFailure failure)
        {
            return new FloorRecord(round, null, failure.Message);
        }
    }

    /// <summary>How far apart the two processors are just now, unless they are one, and the floor of one cell, shortly.</summary>
    public async Task<FloorNow> MeasureNowAsync(Pins pins, FloorOfCell floor, CancellationToken stop)
    {
        var sizes = floor.OneWayBytes is { } bytes ? Arguments(pins, Schedule.FloorAroundTiming, [], [bytes])
            : Arguments(pins, Schedule.FloorAroundTiming, [HasSizes(floor.Workload) ? floor.Workload : FloorFigures.SmallestSize], []);
        var measured = await MeasureAsync(0, [.. sizes, "--only", pins.AreOne ? floor.Name : $"cacheline,{floor.Name}"], stop).ConfigureAwait(false);
        return new FloorNow(measured.Figures?.CachelineRttNs, floor.In(measured.Figures), measured.Reason);
    }

    private static bool HasSizes(string workload) => Choices.WorkloadEntry(workload) is var entry && entry.RequestBytes + entry.ReplyBytes > 0;

    private static string[] Arguments(Pins pins, LaunchTiming timing, IEnumerable<string> workloads, IEnumerable<int> oneWaySizes)
    {
        var sizes = workloads.Distinct().Where(HasSizes).Select(Choices.WorkloadEntry)
            .Select(w => new Sizes(w.Id, w.RequestBytes * w.Bucket, w.ReplyBytes * w.Bucket)).ToArray();
        return
        [
            "--pin", pins.ToString(), "--warmup", timing.WarmupSeconds.ToString(CultureInfo.InvariantCulture),
            "--seconds", timing.Seconds.ToString(CultureInfo.InvariantCulture),
            "--workloads", JsonSerializer.Serialize(sizes, LabJson.Line),
            "--oneway", JsonSerializer.Serialize(oneWaySizes, LabJson.Line),
        ];
    }

    private async Task<string> ReadAsync(ChildProcess process, CancellationToken stop)
    {
        var reading = ReadToEndAsync(new BoundedLineReader(process.Output));
        try
        {
            return await reading.WaitAsync(bound, stop).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            throw new PeerFailure("HUNG", $"the floors program did not end within {bound.TotalSeconds:0} s and was killed");
        }
    }

    private static async Task<string> ReadToEndAsync(BoundedLineReader reader)
    {
        var lines = new List<string>();
        while (await reader.ReadAsync().ConfigureAwait(false) is { } line)
            lines.Add(line);
        return string.Join('\n', lines);
    }
}

/// <summary>Of one moment: a cache line's round trip between the two processors, and a cell's floor.</summary>
internal sealed record FloorNow(double? LineNs, double? FloorNs, string? Reason);
