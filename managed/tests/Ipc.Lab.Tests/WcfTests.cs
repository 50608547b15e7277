using System.Diagnostics;
using System.Text.Json;
using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>WCF with the real peers of a built tree, which check every exchange's content: bodies, quotas, deaths. Run by Mono off Windows.</summary>
public sealed class WcfTests : IDisposable
{
    private const string Pair = "managed-netfx:managed-netfx";
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [NetFxTheory]
    [InlineData("wcf-ipc", "raw", "call", "0.1k-1k")]
    [InlineData("wcf-ipc?over=pipe", "custom", "call", "1k-10k")]
    [InlineData("wcf-ipc?over=unix", "protobuf", "call", "10k-100k")]
    [InlineData("wcf-ipc?wait=block", "raw", "call", "100k-1000k")]
    [InlineData("wcf-ipc", "raw", "push", "push-10k")]
    [InlineData("wcf", "raw", "call", "0.1k-1k")]
    [InlineData("wcf", "custom", "call", "10k-100k")]
    [InlineData("wcf?binding=nettcp-default", "protobuf", "call", "1k-10k")]
    [InlineData("wcf?binding=nettcp-default", "raw", "push", "push-1k")]
    public async Task BodiesArriveAndBothEndsCountTheSame(string transport, string codec, string scenario, string workload)
    {
        var (record, samples) = await LaunchAsync(transport, codec, scenario, workload);

        Assert.Equal(3, record.Operations);
        Assert.Equal(3, samples.Length);
        Assert.True(record.Bytes > 3L * Choices.WorkloadEntry(workload).ReplyBytes);
    }

    [NetFxTheory]
    [InlineData("wcf-ipc?max=4k", "raw", "1k-10k", "a body of 10000 bytes is over the 4096", "max=")]
    [InlineData("wcf-ipc?max=4k", "raw", "10k-100k", "a body of 10000 bytes is over the 4096", "max=")]
    [InlineData("wcf?binding=nettcp-default", "raw", "10k-100k", "a body of 100000 bytes is over the 16384", "MaxArrayLength")]
    public async Task ABodyOverTheQuotaIsRefusedWithAnErrorMessage(string transport, string codec, string workload, string what, string mend)
    {
        var failure = await Assert.ThrowsAsync<PeerFailure>(() => LaunchAsync(transport, codec, "call", workload));

        Assert.Contains(what, failure.Message, StringComparison.Ordinal);
        Assert.Contains(mend, failure.Message, StringComparison.Ordinal);
    }

    [NetFxTheory]
    [InlineData("shm", "server"), InlineData("shm", "client"), InlineData("unix", "server"), InlineData("unix", "client")]
    [InlineData("pipe", "server"), InlineData("pipe", "client")]
    public async Task AKilledPeerIsNoticedWithinTwoSeconds(string over, string victim)
    {
        using var server = StartPeer("server", $"wcf-ipc://{NewName()}?over={over}");
        var ready = await EventAsync(server, "ready");
        using var client = StartPeer("client", ready.GetProperty("address").GetString()!);
        await EventAsync(client, "warm");
        await client.StandardInput.WriteLineAsync("{\"command\":\"go\"}");
        var (killed, survivor) = victim == "server" ? (server, client) : (client, server);

        killed.Kill();
        var clock = Stopwatch.StartNew();
        var failed = await EventAsync(survivor, "failed");

        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(2), $"the surviving peer said so only after {clock.Elapsed}");
        Assert.Equal("PEER_CLOSED", failed.GetProperty("status").GetString());
        survivor.StandardInput.Close();
        await survivor.WaitForExitAsync().WaitAsync(s_patience);
        Assert.Equal(1, survivor.ExitCode);
    }

    [Fact]
    public void WhatMonoCannotDoIsToldBeforehand()
    {
        if (OperatingSystem.IsWindows())
            return;
        foreach (var binding in (string[])["nettcp-streamed", "netnamedpipe-default", "netnamedpipe-tuned", "netnamedpipe-streamed"])
            Assert.Contains("not run here", Registry.WhyRefused(IpcAddress.Parse($"wcf://x?binding={binding}")), StringComparison.Ordinal);
        Assert.Null(Registry.WhyRefused(IpcAddress.Parse("wcf://x?binding=nettcp-tuned")));
        Assert.Contains("50 ms", Registry.NoteOf("wcf"), StringComparison.Ordinal);
        Assert.Null(Registry.NoteOf("wcf-ipc"));
    }

    private Task<(LaunchRecord Record, uint[] Samples)> LaunchAsync(string transport, string codec, string scenario, string workload)
    {
        var cell = new Cell(transport, Pair, codec, scenario, workload, Count: 3);
        var task = new LaunchTask(
            cell, PeerWorkloads.Of(workload, null), NewName(), 7, Pins.None, new LaunchTiming(0.02, 0.02) { Settles = false },
            Path.Combine(_folder.Path, "launch.u32"));
        return new Launcher(Programs.OfThisTree(), LaunchBounds.Usual).RunAsync(task, 0, 0, CancellationToken.None);
    }

    private static string NewName() => $"lab-test-{Guid.NewGuid():N}"[..24];

    private static Process StartPeer(string role, string address)
    {
        var program = Programs.OfThisTree().Peer("managed-netfx");
        var process = Process.Start(new ProcessStartInfo(program.Command[0], program.Command.Skip(1))
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        var cell = new PeerCell(role, "managed-netfx", address, "raw", "call", PeerWorkloads.Of("0.1k-1k", null), 7, null, 0.02, 20, null, null);
        process.StandardInput.WriteLine(JsonSerializer.Serialize(cell, LabJson.Line));
        process.StandardInput.Flush();
        return process;
    }

    private static async Task<JsonElement> EventAsync(Process peer, string name)
    {
        while (await peer.StandardOutput.ReadLineAsync().WaitAsync(s_patience) is { } line)
        {
            var told = JsonDocument.Parse(line).RootElement;
            if (told.GetProperty("event").GetString() == name)
                return told;
        }
        throw new InvalidOperationException($"the peer ended without saying '{name}'");
    }
}

/// <summary>A theory that needs the peer for .NET Framework and, off Windows, Mono.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class NetFxTheoryAttribute : TheoryAttribute
{
    public NetFxTheoryAttribute() => Skip = Programs.OfThisTree().WhyCannotPlay("managed-netfx");
}
