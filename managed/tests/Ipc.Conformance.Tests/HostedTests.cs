using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Side `hosted` with the others: .NET inside a native process, whose handlers C++ calls and whose clients call the C ABI. What the other
/// classes ask of sides that are processes of .NET or of C++, as far as it could be different there.</summary>
public class HostedTests
{
    private static readonly string[] s_transports = ["pipe", "unix", "tcp", "shm", "fifo", "shm-event"];

    private static readonly (string Server, string Client)[] s_pairs = [("hosted", "native"), ("native", "hosted"), ("hosted", "managed"),
        ("hosted", "hosted")];

    private static readonly Dictionary<string, Func<string, string, string, Task>> s_behaviours = new()
    {
        [nameof(CallTests.EverySizeOfReply)] = new CallTests().EverySizeOfReply,
        [nameof(CallTests.ManyCallsInOrder)] = new CallTests().ManyCallsInOrder,
        [nameof(CallTests.AFaultCarriesItsText)] = new CallTests().AFaultCarriesItsText,
        [nameof(MessageTests.ThousandsOfMessagesInOrderBothWaysAtOnce)] = new MessageTests().ThousandsOfMessagesInOrderBothWaysAtOnce,
        [nameof(ClosingTests.ThePeerReadsEverythingThenTheEnd)] = new ClosingTests().ThePeerReadsEverythingThenTheEnd,
        [nameof(DeathTests.InTheMiddleOfACall)] = new DeathTests().InTheMiddleOfACall,
        [nameof(DeathTests.WhileTheServerWaits)] = (transport, server, client) => new DeathTests().WhileTheServerWaits(transport, server, client, ""),
    };

    public static TheoryData<string, string, string, string> Cases()
    {
        var data = new TheoryData<string, string, string, string>();
        foreach (var behaviour in s_behaviours.Keys)
        {
            foreach (var transport in s_transports.Where(t => Registry.WhyNotAvailable(t, "hosted", PuppetSystem.Platform).Length == 0))
            {
                foreach (var (server, client) in s_pairs)
                    data.Add(behaviour, transport, server, client);
            }
        }
        return data;
    }

    [HostedTheory, MemberData(nameof(Cases))]
    public Task InANativeProcess(string behaviour, string transport, string server, string client) => s_behaviours[behaviour](transport, server, client);
}

/// <summary>A theory that needs the native process which .NET code is brought into.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class HostedTheoryAttribute : TheoryAttribute
{
    public HostedTheoryAttribute()
    {
        if (!File.Exists(PuppetProgram.NativeHost))
            Skip = $"{PuppetProgram.NativeHost} was not built: it needs the host pack of the .NET SDK (packs/Microsoft.NETCore.App.Host.*)";
    }
}
