using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
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

    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task ACloseEndsAReceiveWithoutADescriptor(string transport, string side) => Stage.Run(transport, "native", side, async stage =>
    {
        await stage.Listen();
        // Once with descriptors, because .NET loads assemblies for it, without which it ends the process.
        foreach (var channel in new[] { "first", "second" })
        {
            await stage.Connect(channel: channel);
            var receiving = await stage.Client.GiveBlocking("receive", $"receive {channel} 10 1 1 -1", maySpin: true);
            if (channel == "second")
                await UseUpDescriptors(stage.Client, stage.Server, stage.Name);
            await stage.Client.Ok($"close {channel}");
            (await receiving).Refused(IpcStatus.Closed);
        }
        stage.Client.LimitDescriptors(null);
    });

    [RootTheory, InlineData("native"), InlineData("managed"), InlineData("bound")]
    public Task APublisherWithoutAThreadSaysSoAndLeavesNoName(string side) => WithFewThreads(side, async (puppet, folder) =>
    {
        // Once with threads, because .NET loads assemblies and compiles for it.
        await puppet.Ok("publisher first broadcast://first");
        puppet.Limit("--nproc=1:");
        var refused = await puppet.Refuses(IpcStatus.System, "publisher second broadcast://second");
        Assert.Contains("cannot start a thread that admits the subscribers of broadcast://second: ", refused.Text, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFiles(folder, "*second", SearchOption.AllDirectories));
        puppet.Limit("--nproc=1000:");
        await puppet.Ok("publisher second broadcast://second");
    });

    // Warm: it has received what was there. One of shm's then has the thread that watches the peer, but not the one that sleeps for it. Over the C ABI
    // shm has a thread that blocks, which is the pool's where there is none to be had.
    [RootTheory]
    [InlineData("managed", "unix", false), InlineData("managed", "shm", false), InlineData("managed", "shm", true), InlineData("bound", "unix", false)]
    public Task AnAsynchronousReceiveWithoutAThreadSaysSoAndTheChannelStays(string side, string transport, bool warm) =>
        WithFewThreads(side, async (puppet, _) =>
    {
        await puppet.Ok($"listen l {transport}://short");
        var connecting = puppet.Give("connect", $"connect c {transport}://short 5000");
        await puppet.Ok("accept l s 5000");
        (await connecting).Ok();
        if (warm)
        {
            await puppet.Ok("send s 10 1 1 5000");
            await puppet.Ok("receive-async c 10 1 1 -1", 10);
        }
        puppet.Limit("--nproc=1:");
        // Without a time-out, for which .NET would start a thread and end the process.
        var refused = await puppet.Refuses(IpcStatus.System, "receive-async c 10 1 1 -1");
        Assert.Contains("cannot start a thread that waits for channels: ", refused.Text, StringComparison.Ordinal);
        puppet.Limit("--nproc=1000:");
        await puppet.Ok("send s 10 1 2 5000");
        await puppet.Ok("receive-async c 10 1 2 5000", 10);
        await puppet.Ok("reset");
    });

    // A puppet of a user that has nothing else, because the system counts a user's threads, and root's it does not.
    private static async Task WithFewThreads(string side, Func<PuppetProcess, string, Task> body)
    {
        var user = SecondUser.Fresh();
        var folder = Directory.CreateTempSubdirectory("ipc-shortage-").FullName;
        try
        {
            SecondUser.Run(0, $"chown {user} {folder}");
            using var puppet = new PuppetProcess(side, new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = folder }, user);
            await body(puppet, folder);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    // Whatever step of connecting the last descriptor is missing for.
    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task AClientThatLacksDescriptorsSaysSoAndConnectsOnceItHasThem(string transport, string side) => Stage.Run(transport, "native", side, async stage =>
    {
        await stage.Open();
        await stage.Client.Ok("free c");
        await stage.Server.Ok("free c");
        for (var left = await UseUpDescriptors(stage.Client, stage.Server, stage.Name); ; left--)
        {
            var accepting = stage.Server.Give("accept", "accept l c 200");
            var answer = await stage.Client.Give("main", $"connect c {stage.Address} 2000");
            var accepted = await accepting;
            if (answer.IsOk)
            {
                accepted.Ok();
                break;
            }
            answer.Refused(IpcStatus.System);
            if (accepted.IsOk)
                await stage.Server.Ok("free c");
            Assert.True(left > 0, "it does not connect with the descriptors that it had before");
            await stage.Client.Ok($"free filler{left - 1}");
        }
        stage.Client.LimitDescriptors(null);
        await stage.ExchangeBothWays();
    });

    // The same for a server. A client may find that its connection is ended, but no good one is told anything that is not so.
    [Theory, MemberData(nameof(Pairs.Sides), MemberType = typeof(Pairs))]
    public Task AServerThatLacksDescriptorsSaysSoAndAcceptsOnceItHasThem(string transport, string side) => Stage.Run(transport, side, "native", async stage =>
    {
        await stage.Open();
        await stage.Client.Ok("free c");
        await stage.Server.Ok("free c");
        for (var left = await UseUpDescriptors(stage.Server, stage.Client, stage.Name); ; left--)
        {
            var connecting = stage.Client.Give("connect", $"connect c {stage.Address} 1000");
            var answer = await stage.Server.Give("main", "accept l c 200");
            if (answer.IsOk)
            {
                (await connecting).Ok();
                break;
            }
            answer.Refused(IpcStatus.System, IpcStatus.TimedOut);
            Assert.True(left > 0, "it does not accept with the descriptors that it had before");
            await stage.Server.Ok($"free filler{left - 1}");
            if ((await connecting).IsOk)
                await stage.Client.Ok("free c");
            else
                (await connecting).Refused(IpcStatus.PeerClosed, IpcStatus.TimedOut);
        }
        stage.Server.LimitDescriptors(null);
        await stage.ExchangeBothWays();
    });

    [Theory]
    [InlineData("broadcast", "native")]
    [InlineData("broadcast", "managed")]
    [InlineData("broadcast", "bound")]
    [InlineData("queue", "native")]
    [InlineData("queue", "managed")]
    [InlineData("queue", "bound")]
    [InlineData("ring", "native")]
    [InlineData("ring", "managed")]
    [InlineData("ring", "bound")]
    public async Task OneThatLacksDescriptorsToOpenSaysSoAndOpensOnceItHasThem(string transport, string side)
    {
        var name = $"conformance-{Guid.NewGuid():N}";
        var address = $"{transport}://{name}";
        var isQueue = transport != "broadcast";
        using var puppet = new PuppetProcess(side);
        using var other = new PuppetProcess("native");
        using IDisposable published = isQueue ? ManagedIpc.OpenQueue(address) : ManagedIpc.Publish(address);
        var open = isQueue ? "open-queue" : "subscriber";
        try
        {
            await puppet.Ok($"{open} first {address} 2000");
            await OpensOnceItHasDescriptors($"{open} second {address} 2000", puppet, other, name);
        }
        finally
        {
            if (isQueue)
                ManagedIpc.RemoveQueue(address);
            await other.Give("main", "reset");
        }
    }

    // Whether a name is a dead listener's is found out with a descriptor.
    [Theory]
    [InlineData("fifo", "native")]
    [InlineData("fifo", "managed")]
    [InlineData("fifo", "bound")]
    [InlineData("unix", "native")]
    [InlineData("unix", "managed")]
    [InlineData("unix", "bound")]
    public async Task AListenerThatLacksDescriptorsDoesNotTakeADeadNameForALivingOne(string transport, string side)
    {
        var name = $"conformance-{Guid.NewGuid():N}";
        using var puppet = new PuppetProcess(side);
        using var other = new PuppetProcess("native");
        using var dead = new PuppetProcess("native");
        // Once with descriptors, for .NET.
        await puppet.Ok($"listen first {transport}://{name}-first");
        await dead.Ok($"listen l {transport}://{name}");
        dead.Kill();
        await OpensOnceItHasDescriptors($"listen second {transport}://{name}", puppet, other, name);
        await puppet.Ok("reset");
        await other.Ok("reset");
        Assert.Empty(Names.Left(name));
    }

    private static async Task OpensOnceItHasDescriptors(string command, PuppetProcess puppet, PuppetProcess other, string name)
    {
        for (var left = await UseUpDescriptors(puppet, other, name); ; left--)
        {
            var answer = await puppet.Give("main", command);
            if (answer.IsOk)
                break;
            answer.Refused(IpcStatus.System);
            Assert.True(left > 0, "it does not open with the descriptors that it had before");
            await puppet.Ok($"free filler{left - 1}");
        }
        puppet.LimitDescriptors(null);
    }

    // It has no descriptor left but those that it closes. How many there are of filler0, filler1 ..., each of which holds one or two.
    private static async Task<int> UseUpDescriptors(PuppetProcess puppet, PuppetProcess other, string name)
    {
        var address = await other.Ok($"listen filler unix://{name}-filler");
        // All that comes once before, because .NET opens files for it: for its first exception, too, without which it ends the process.
        await puppet.Refuses(IpcStatus.NoServer, $"connect nobody unix://{name}-nobody 100");
        await puppet.Ok($"connect filler {address} 1000");
        await puppet.Ok("free filler");
        puppet.LimitDescriptors(puppet.Descriptors + 10); // new ones get the lowest numbers
        var count = 0;
        while (true)
        {
            var answer = await puppet.Give("main", $"connect filler{count} {address} 1000");
            if (!answer.IsOk)
            {
                answer.Refused(IpcStatus.System);
                return count;
            }
            count++;
        }
    }
}
