using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>A server that the system gives too little: it says so, and goes on.</summary>
[Trait("system", "linux")]
public sealed class ShortageTests
{
    public static TheoryData<string, string> ServersOfSharedMemory()
    {
        var data = new TheoryData<string, string>();
        foreach (var side in new[] { "native", "bound", "managed" })
        {
            data.Add(side, "shm");
            data.Add(side, "shm-event");
        }
        return data;
    }

    [Theory, MemberData(nameof(ServersOfSharedMemory))]
    public async Task OneThatMayMakeNoFilesSaysThatAClientCouldNotBeServed(string side, string transport)
    {
        using var server = new PuppetProcess(side);
        using var client = new PuppetProcess("native");
        var address = $"{transport}://short-{Guid.NewGuid():N}";
        await server.Ok($"listen l {address}");

        // As by `ulimit -f 0`: the system sends SIGXFSZ, which ends a program, with each refusal.
        server.Limit("--fsize=0:unlimited");
        var connecting = client.Give("main", $"connect c {address} 5000");
        var refused = await server.Refuses(IpcStatus.System, "accept l c 1000");
        Assert.Contains("a client came to ", refused.Text, StringComparison.Ordinal);
        Assert.Contains(" could not be served: cannot make ", refused.Text, StringComparison.Ordinal);
        (await connecting).Refused(IpcStatus.PeerClosed);

        server.Limit("--fsize=unlimited:unlimited");
        connecting = client.Give("main", $"connect c {address} 5000");
        await server.Ok("accept l c 5000");
        (await connecting).Ok();
        await server.Ok("reset"); // a puppet that is ended leaves its name
    }
}
