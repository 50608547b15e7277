using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>The managed side is .NET alone: whatever it does, the native library is never loaded.</summary>
[Trait("system", "linux")]
public class PurityTests
{
    public static TheoryData<string> Managed()
    {
        var data = new TheoryData<string>();
        foreach (var transport in Pairs.Transports.Where(transport => Registry.WhyNotAvailable(transport.Id, "managed").Length == 0))
            data.Add(transport.Id);
        return data;
    }

    [Theory, MemberData(nameof(Managed))]
    public Task AManagedProcessNeverLoadsTheNativeLibrary(string transport) => Stage.Run(transport, "managed", "managed", async stage =>
    {
        await stage.Open();
        await stage.ExchangeBothWays();
        foreach (var puppet in new[] { stage.Server, stage.Client })
        {
            var mappings = puppet.Mappings;
            // The puppet's own assembly must be there, or nothing was looked at.
            if (!mappings.Contains("Ipc.Puppet.dll", StringComparison.Ordinal))
                throw new ConformanceException($"{puppet.Name} does not show its own assembly in /proc");
            foreach (var unwanted in new[] { "libipc", "Ipc.Native" })
            {
                if (mappings.Contains(unwanted, StringComparison.Ordinal))
                    throw new ConformanceException($"{puppet.Name} is managed, yet has {unwanted} loaded");
            }
        }
    });
}
