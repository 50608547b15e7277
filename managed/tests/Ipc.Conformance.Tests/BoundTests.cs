using System.Text.Json.Nodes;
using Ipc.Conformance.Puppets;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>What only the bound side has: finding the library, its version, its registry.</summary>
[Trait("system", "linux")]
public class BoundTests
{
    // Read when the library is first needed in this process, so it must be set before.
    static BoundTests() => BoundLibrary.Choose();

    [Fact]
    public void TheLibraryHasTheVersionThisAssemblyNeeds() => Assert.Equal(1, NativeIpc.AbiVersion.Major);

    [Fact]
    public void BothLibrariesHaveTheSameRegistry()
    {
        var here = JsonNode.Parse(Registry.Json)!["transports"]!.AsArray().ToList();
        Assert.Equal(here.Select(transport => transport!["id"]!.GetValue<string>()), NativeIpc.Transports);
        foreach (var transport in here)
        {
            var there = JsonNode.Parse(NativeIpc.Describe(transport!["id"]!.GetValue<string>()));
            Assert.True(JsonNode.DeepEquals(transport, there), $"the native library describes {transport["id"]} as {there}");
        }
    }

    [Fact]
    public void AnUnknownTransportIsNamed()
    {
        var e = Assert.Throws<IpcException>(() => NativeIpc.Describe("carrier-pigeon"));
        Assert.Equal(IpcStatus.UnknownTransport, e.Status);
        Assert.Contains("carrier-pigeon", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/nonexistent/libipc.so")]
    [InlineData("libipc.so")]
    [InlineData("/proc/self/status")]
    [InlineData("/lib/x86_64-linux-gnu/libc.so.6")]
    public async Task AMissingLibraryIsNotAvailable(string path)
    {
        using var puppet = new PuppetProcess("bound", new Dictionary<string, string> { ["IPC_LIBRARY"] = path });
        foreach (var command in new[] { "listen l unix://never-made", "connect c unix://never-made 100" })
            Assert.False(string.IsNullOrWhiteSpace((await puppet.Refuses(IpcStatus.NotAvailable, command)).Text));
    }

    [Fact]
    public Task ALibraryThatDoesNotLoadSaysWhy() => SaysWhy("bound", Directory.GetFiles(AppContext.BaseDirectory, "Ipc*"));

    [MonoTheory, InlineData("bound-netfx")]
    public Task ALibraryThatDoesNotLoadSaysWhyOnMono(string side) => SaysWhy(side, Directory.GetFiles(Path.GetDirectoryName(PuppetProgram.NetFx)!));

    // As on a system for which it was not built: that there is no library would be the wrong answer.
    private static async Task SaysWhy(string side, string[] program)
    {
        var folder = Directory.CreateTempSubdirectory("ipc-conformance-");
        try
        {
            foreach (var file in program)
                File.Copy(file, Path.Combine(folder.FullName, Path.GetFileName(file)));
            File.WriteAllText(Path.Combine(folder.FullName, "libipc.so"), "no library");
            using var puppet = new PuppetProcess(side, new Dictionary<string, string> { ["IPC_LIBRARY"] = "" }, copy: folder.FullName);
            var refused = await puppet.Refuses(IpcStatus.NotAvailable, "listen l unix://never-made");
            Assert.Contains("does not load on this system", refused.Text, StringComparison.Ordinal);
            Assert.Contains(Path.Combine(folder.FullName, "libipc.so"), refused.Text, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void AfterDisposeEverythingSaysClosed()
    {
        var listener = NativeIpc.Listen($"unix://conformance-dispose-{Environment.ProcessId}");
        var client = NativeIpc.Connect(listener.Address, 1000);
        using var server = listener.Accept(1000);
        client.Dispose();
        client.Dispose();
        client.Close();
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => client.Send([1])).Status);
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => client.Receive(new byte[1])).Status);
        Assert.Equal(IpcStatus.PeerClosed, Assert.Throws<IpcException>(() => server.Receive(new byte[1], 1000)).Status);
        listener.Dispose();
        listener.Close();
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => listener.Accept(0)).Status);
    }

    [Fact]
    public void AForgottenChannelIsFreedByTheCollector()
    {
        using var listener = NativeIpc.Listen($"unix://conformance-forgotten-{Environment.ProcessId}");
        Forget(listener.Address);
        using var server = listener.Accept(1000);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Assert.Equal(IpcStatus.PeerClosed, Assert.Throws<IpcException>(() => server.Receive(new byte[1], 2000)).Status);
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void Forget(string address) => NativeIpc.Connect(address, 1000);
}
