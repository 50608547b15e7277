using System.Diagnostics;
using Ipc.Conformance.Puppets;
using Ipc.Conformance.Raw;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Both languages look for names in the same folder, and say the same when a second user took it first.</summary>
[Trait("system", "linux")]
public sealed class NamesTests : IDisposable
{
    private const UnixFileMode Owner = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private static readonly string[] s_transports = ["pipe", "unix", "fifo", "shm", "shm-event"];

    private readonly string _folder = Directory.CreateTempSubdirectory("ipc-names-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    public static TheoryData<string, string, string> Environments()
    {
        var data = new TheoryData<string, string, string>();
        foreach (var runtime in new[] { "own", "own//", "readable", "writable by others", "missing", "relative", "long", "" })
        {
            data.Add(runtime, "native", "managed");
            data.Add(runtime, "managed", "native");
        }
        data.Add("own", "bound", "managed");
        return data;
    }

    // The folder for XDG_RUNTIME_DIR, and whether the library must use it.
    private (string Value, bool IsUsed) Runtime(string kind)
    {
        switch (kind)
        {
            case "own" or "own//":
                return (_folder + kind[3..], true);
            case "readable":
                File.SetUnixFileMode(_folder, Owner | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
                return (_folder, true);
            case "writable by others":
                File.SetUnixFileMode(_folder, Owner | UnixFileMode.GroupRead | UnixFileMode.GroupWrite | UnixFileMode.GroupExecute);
                return (_folder, false);
            case "missing":
                return (_folder + "/nowhere", false);
            case "relative":
                return (_folder[1..], false);
            case "long":
                var path = Path.Combine(_folder, new string('l', 150));
                Directory.CreateDirectory(path, Owner);
                return (path, true);
            default:
                return ("", false);
        }
    }

    // Making and removing names is ordered by a lock, which is a descriptor.
    [Theory, InlineData("native"), InlineData("managed"), InlineData("bound")]
    public async Task AListenerTakesItsNameAwayWithoutADescriptorForTheLock(string side)
    {
        using var server = new PuppetProcess(side, new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = _folder, ["TMPDIR"] = _folder });
        foreach (var transport in s_transports)
            await server.Ok($"listen {transport} {transport}://short");
        Assert.Equal(s_transports.Length, Names().Length);
        server.LimitDescriptors(3);
        foreach (var transport in s_transports)
            await server.Ok($"close {transport}");
        server.LimitDescriptors(null);
        Assert.Empty(Names());
        await server.Ok("reset");

        string[] Names() => Directory.GetFiles(_folder, "*short", SearchOption.AllDirectories);
    }

    [Theory, MemberData(nameof(Environments))]
    public async Task BothEndsMeetInOneFolder(string runtime, string serverSide, string clientSide)
    {
        var (value, isUsed) = Runtime(runtime);
        var environment = new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = value };
        using var server = new PuppetProcess(serverSide, environment);
        using var client = new PuppetProcess(clientSide, environment);
        var name = $"meet-{Guid.NewGuid():N}";
        foreach (var transport in s_transports)
        {
            await server.Ok($"listen {transport} {transport}://{name}");
            var accepting = server.Give("acceptor", $"accept {transport} s-{transport} 5000");
            await client.Ok($"connect {transport} {transport}://{name} 5000");
            (await accepting).Ok();
            await client.Ok($"send {transport} 100 1 1 5000");
            await server.Ok($"receive s-{transport} 100 1 1 5000");
        }
        foreach (var transport in new[] { "queue", "ring" })
        {
            await server.Ok($"open-queue {transport} {transport}://{name} 5000");
            await client.Ok($"open-queue {transport} {transport}://{name} 5000");
            await client.Ok($"enqueue {transport} 100 1 1 5000");
            await server.Ok($"dequeue {transport} 100 1 1 5000");
        }
        await server.Ok($"publisher p broadcast://{name}");
        await client.Ok($"subscriber s broadcast://{name} 5000");
        if (isUsed)
            Assert.Equal(7, Directory.GetFiles($"{value.TrimEnd('/')}/ipc").Length); // all but the pipe's
        await client.Ok("reset");
        await server.Ok("reset");
        await server.Ok($"remove-queue queue://{name}");
        // A publisher goes with its process, and what is killed leaves its name.
        client.Kill();
        server.Kill();
        foreach (var path in Names.Left(name))
            File.Delete(path);
    }

    [Theory]
    [InlineData("native")]
    [InlineData("managed")]
    [InlineData("bound")]
    public async Task ADeadServersNameIsClearedAwayThoughAnotherHasTheNamesLocked(string side)
    {
        var environment = new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = _folder };
        foreach (var transport in new[] { "unix", "fifo", "shm", "shm-event", "broadcast" })
        {
            using var server = new PuppetProcess("native", environment);
            using var client = new PuppetProcess(side, environment);
            string waiting;
            if (transport == "broadcast")
            {
                await server.Ok("publisher p broadcast://locked");
                await client.Ok("subscriber s broadcast://locked 5000");
                waiting = "take s 10 1 1 -1";
            }
            else
            {
                await server.Ok($"listen l {transport}://locked");
                var accepting = server.Give("acceptor", "accept l s 5000");
                await client.Ok($"connect c {transport}://locked 5000");
                (await accepting).Ok();
                waiting = "receive c 10 1 1 -1";
            }
            var received = client.Give("blocked", waiting);
            // Longer than anybody who makes or removes a name needs, as it is on a busy machine.
            var command = "echo locked; sleep 0.3";
            using var holder = Process.Start(new ProcessStartInfo("flock", [$"{_folder}/ipc", "sh", "-c", command]) { RedirectStandardOutput = true })!;
            Assert.Equal("locked", await holder.StandardOutput.ReadLineAsync());
            server.Kill();
            (await received).Refused(IpcStatus.PeerClosed);
            await holder.WaitForExitAsync();
            Assert.True(Directory.GetFiles($"{_folder}/ipc") is [],
                $"{transport} left {string.Join(", ", Directory.GetFiles($"{_folder}/ipc"))}\n{client.Transcript}");
        }
    }

    // A second user makes the folders first, in each form they could have; and takes a pipe's name.
    [RootTheory]
    [InlineData("mkdir -m 700")]
    [InlineData("mkdir -m 777")]
    [InlineData("ln -s /tmp")]
    [InlineData("touch")]
    public async Task ASquattedFolderIsToldOfAndXdgRuntimeDirHelps(string squat)
    {
        var victim = SecondUser.Fresh();
        string[] squatted = [$"/tmp/ipc-{victim}", $"/dev/shm/ipc-{victim}"];
        var name = $"squat-{Guid.NewGuid():N}";
        try
        {
            foreach (var path in squatted)
                SecondUser.Run(SecondUser.Nobody, $"{squat} {path}");
            var refusals = await Task.WhenAll(Refusals("native", victim, name), Refusals("managed", victim, name));
            Assert.Equal(refusals[0], refusals[1]);
            foreach (var errorMessage in refusals[0])
            {
                Assert.Contains(squatted, path => errorMessage.StartsWith(path, StringComparison.Ordinal));
                foreach (var word in new[] { "user nobody (65534)", "root", "XDG_RUNTIME_DIR" })
                    Assert.Contains(word, errorMessage, StringComparison.Ordinal);
            }

            SecondUser.Run(0, $"chown {victim} {_folder}");
            var environment = new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = _folder };
            using var server = new PuppetProcess("managed", environment, victim);
            using var client = new PuppetProcess("native", environment, victim);
            foreach (var transport in s_transports)
            {
                await server.Ok($"listen {transport} {transport}://{name}");
                var accepting = server.Give("acceptor", $"accept {transport} s-{transport} 5000");
                await client.Ok($"connect {transport} {transport}://{name} 5000");
                (await accepting).Ok();
            }
            foreach (var transport in new[] { "queue", "ring" })
                await server.Ok($"open-queue {transport} {transport}://{name} 5000");
        }
        finally
        {
            foreach (var path in squatted)
                SecondUser.Run(0, $"rm -rf {path}");
            SecondUser.Run(0, $"chown 0 {_folder}; rm -f /tmp/CoreFxPipe_{name}");
        }
    }

    // What each transport says to servers and to clients.
    private static async Task<List<string>> Refusals(string side, uint victim, string name)
    {
        var errorMessages = new List<string>();
        using var puppet = new PuppetProcess(side, new Dictionary<string, string> { ["XDG_RUNTIME_DIR"] = "" }, victim);
        foreach (var transport in s_transports)
        {
            errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"listen l {transport}://{name}")).Text);
            errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"connect c {transport}://{name} 1000")).Text);
        }
        errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"connect c unix:///tmp/{name} 1000")).Text);
        foreach (var transport in new[] { "queue", "ring" })
        {
            errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"open-queue q {transport}://{name} 1000")).Text);
            errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"remove-queue {transport}://{name}")).Text);
        }
        errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"publisher p broadcast://{name}")).Text);
        errorMessages.Add((await puppet.Refuses(IpcStatus.NoPermission, $"subscriber s broadcast://{name} 1000")).Text);
        return errorMessages;
    }

    // A pipe's name, which stands in a folder for everybody, can be taken; whoever does it gets no connection.
    [RootTheory]
    [InlineData("native")]
    [InlineData("managed")]
    public async Task ASecondUserWhoTakesAPipesNameGainsNothing(string side)
    {
        var name = $"taken-{Guid.NewGuid():N}";
        using var thief = new PuppetProcess("native", user: SecondUser.Nobody);
        await thief.Ok($"listen l pipe://{name}");
        var accepting = thief.Give("acceptor", "accept l c 1000");
        using var victim = new PuppetProcess(side);
        var refusal = await victim.Refuses(IpcStatus.NoPermission, $"connect c pipe://{name} 1000");
        Assert.Contains("choose another name", refusal.Text, StringComparison.Ordinal);
        refusal = await victim.Refuses(IpcStatus.NoPermission, $"listen l pipe://{name}");
        Assert.Contains("choose another name", refusal.Text, StringComparison.Ordinal);
        (await accepting).Refused(IpcStatus.TimedOut);
        await thief.Ok("reset");
    }
}
