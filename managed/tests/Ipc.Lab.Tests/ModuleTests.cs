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

    // A folder that looks like /proc with one daemon in it.
    [Theory]
    [InlineData("iox-roudi", "Mon+Discover", false, true)]
    [InlineData("iox-roudi", "Mon+Discover", true, false)]
    [InlineData("iox-roudi", "IPC-msg-process", false, false)]
    [InlineData("other", "Mon+Discover", false, false)]
    public void ADaemonWhoseMonitorDoesNotWakeHangs(string program, string threadName, bool wakes, bool hangs)
    {
        using var folder = new TemporaryFolder();
        var thread = Path.Combine(folder.Path, "4711", "task", "4713");
        Directory.CreateDirectory(thread);
        Directory.CreateDirectory(Path.Combine(folder.Path, "self"));
        File.WriteAllText(Path.Combine(folder.Path, "4711", "comm"), $"{program}\n");
        File.WriteAllText(Path.Combine(thread, "comm"), $"{threadName}\n");
        void Write(int switches) => File.WriteAllText(Path.Combine(thread, "status"),
            $"Name:\t{threadName}\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t3\n");
        Write(12);

        var why = RouDiProcess.WhyStuck(folder.Path, () => Write(wakes ? 13 : 12));

        if (hangs)
            Assert.Contains("kill -KILL 4711)", why, StringComparison.Ordinal);
        else
            Assert.Null(why);
    }

    private static string[] Folders() => Directory.GetDirectories(Path.GetTempPath(), "ipc-roudi-*");
}
