using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Transports over a foreign library: what is said when it is not here, and its daemon.</summary>
public sealed class ModuleTests
{
    [Fact]
    public void AModuleThatWasNotBuiltSaysWhichPackageIsMissing()
    {
        using var folder = new TemporaryFolder();
        foreach (var transport in Registry.Transports.Where(t => t.Module is not null))
        {
            var why = Modules.WhyMissing(transport, folder.Path);
            Assert.Contains($"libipc-{transport.Id}.so", why, StringComparison.Ordinal);
            Assert.Contains(transport.Module!.Package, why, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void ATransportOfOurOwnNeedsNothing()
    {
        using var folder = new TemporaryFolder();
        foreach (var transport in Registry.Transports.Where(t => t.Module is null))
            Assert.Null(Modules.WhyMissing(transport, folder.Path));
    }

    [Fact]
    public void TheDaemonRunsWhileItIsHeldAndLeavesNothing()
    {
        if (RouDi.WhyMissing() is { } why)
        {
            Console.Error.WriteLine($"{RouDi.Program} is not tested: {why}");
            return;
        }
        var before = Folders();
        using (var daemon = RouDi.Start())
        {
            // A second one finds the first, whoever started it.
            using var second = RouDi.Start();
            Assert.False(second.IsOurs);
            Assert.Null(RouDi.WhyMissing());
        }
        Assert.Empty(Folders().Except(before));
    }

    private static string[] Folders() => Directory.GetDirectories(Path.GetTempPath(), "ipc-roudi-*");
}
