using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Launches with the real peers of a built tree. Its tests are several classes, which run side by side.</summary>
public abstract class RealPeers : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    /// <summary>Every side as server and as client, with another side where there is one. A scenario is written once in each language, and a peer does not
    /// know who is at the other end, so that further pairs would run the same lines again; that messages pass between all pairs is the conformance
    /// suite's to show.</summary>
    public static TheoryData<string> BothParts { get; } = [.. MessagesBothWays(),
        .. ((string[])["native:hosted", "hosted:native", "managed-aot:managed-aot"]).Where(IsPlayable)];

    /// <summary>The same for messages without replies, which sides hosted and managed-aot do not play.</summary>
    public static TheoryData<string> BothPartsOfMessages { get; } = [.. MessagesBothWays()];

    /// <summary>Every pair of .NET 10 and native; of the sides that not every machine has, those in which they meet native code and themselves.</summary>
    public static TheoryData<string> Pairs { get; } = [.. PairsOfMessages(),
        .. ((string[])["native:hosted", "hosted:native", "hosted:hosted", "managed-aot:managed-aot", "managed-aot:native", "managed:managed-aot"])
            .Where(IsPlayable)];

    // A process of each side that has codecs of its own.
    public static TheoryData<string> PairsAlone { get; } = [.. PairsOfMessages().Where(pair => CellsAlone(pair).Any())];

    private protected static IEnumerable<Cell> CellsAlone(string pair) => Grid.Cross([], [pair], Grid.AllCodecs, ["serialize"], ["1k-10k"]);

    private static IEnumerable<string> MessagesBothWays() =>
        ((string[])["native:managed", "managed:bound", "bound:native", "managed-netfx:bound-netfx", "bound-netfx:managed-netfx"]).Where(IsPlayable);

    private static IEnumerable<string> PairsOfMessages() =>
    [
        .. Presets.NinePairs,
        .. ((string[])["native:managed-netfx", "managed-netfx:native", "managed-netfx:managed-netfx", "bound-netfx:bound-netfx"]).Where(IsPlayable),
    ];

    private protected static bool IsPlayable(string pair) => pair.Split(':').All(side => Programs.OfThisTree().WhyCannotPlay(side) is null);

    /// <summary>Where a launch may write.</summary>
    private protected string Folder => _folder.Path;

    public void Dispose()
    {
        _folder.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <param name="settles">Whether it waits until nothing is compiled any more, which takes a second with .NET and which most tests do not ask about.</param>
    private protected async Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(Cell cell, Pins? pins = null, bool settles = false)
    {
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(cell.Workload, null), $"lab-test-{Guid.NewGuid():N}"[..24], 7, pins ?? Pins.None,
            new LaunchTiming(0.02, 0.02) { Settles = settles }, Path.Combine(Folder, "launch.u32"));
        return await new Launcher(Programs.OfThisTree(), LaunchBounds.Usual).RunAsync(task, 0, 0, CancellationToken.None);
    }

    private protected static bool IsPlayed(string transport, string pair) => pair.Split(':').All(side => Registry.WhyNotAvailable(transport, side).Length == 0);
}
