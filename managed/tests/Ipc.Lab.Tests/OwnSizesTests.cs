using Ipc.Lab.Planning;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Workloads named by sizes that the registry does not list.</summary>
public sealed class OwnSizesTests : RealPeers
{
    [Theory]
    [InlineData("200-1500", "200-1500", 200, 1500)]
    [InlineData("1-0", "1-0", 1, 0)]
    [InlineData("0.1k-1000", "100-1k", 100, 1000)]
    [InlineData("2k-64k", "2k-64k", 2000, 64_000)]
    [InlineData("2000-64000", "2k-64k", 2000, 64_000)]
    [InlineData("1.5M-1000M", "1500k-1000M", 1_500_000, 1_000_000_000)]
    [InlineData("1000-10000", "1k-10k", 1000, 10_000)]
    public void TheNameSaysTheSizes(string name, string id, int requestBytes, int replyBytes)
    {
        var workload = OwnSizes.Find(name);

        Assert.Equal((id, requestBytes, replyBytes), (workload?.Id, workload?.RequestBytes, workload?.ReplyBytes));
        // What a run writes down is found again.
        Assert.Equal(workload?.Id, Choices.Workload(id));
    }

    [Theory]
    [InlineData("200")]
    [InlineData("0-5")]
    [InlineData("0.0k-5")]
    [InlineData("5-1001M")]
    [InlineData("1.5-3")]
    [InlineData("1.2345k-1")]
    [InlineData("2K-3")]
    [InlineData("-5-3")]
    [InlineData("5-3-1")]
    [InlineData("5 -3")]
    [InlineData("9999999999M-1")]
    [InlineData("99999999999-1")]
    [InlineData("5-3\n")]
    [InlineData("٣-٣")]
    [InlineData("")]
    public void OtherNamesMeanNothingAndAreRefusedWithTheForm(string name)
    {
        Assert.Null(OwnSizes.Find(name));
        var mistake = Assert.Throws<UserMistakeException>(() => Choices.Workload(name)).Message;
        Assert.StartsWith($"there is no workload '{name}'; the workloads are 0.1k-1k, ", mistake, StringComparison.Ordinal);
        Assert.EndsWith("; or sizes of your own: the bytes of request (1 to 1000M) and reply (0 to 1000M), as 200-1500 or 2k-64k", mistake,
            StringComparison.Ordinal);
    }

    [Fact]
    public void EachKindOfTransportPlaysWhatItCan()
    {
        Assert.Equal(["call"], ScenariosOf("shm", "200-1500"));
        Assert.Equal(["oneway"], ScenariosOf("shm", "200-0"));
        Assert.Equal(["oneway"], ScenariosOf("queue", "200-0"));
        Assert.Equal(["broadcast"], ScenariosOf("broadcast", "200-0"));
        Assert.Equal(["handler", "pipelined-8"], ScenariosOf("shm", "200-1500", "handler", "pipelined-8"));
        // Two names of the same sizes are one cell.
        Assert.Single(CellSelection.Select(new RunRequest { Transports = ["shm"], Pairs = ["native:native"], Workloads = ["2k-64k", "2000-64k"] }));
        Assert.Equal("workload '200-1500' has no codec 'custom'; it takes raw", Assert.Throws<UserMistakeException>(
            () => CellSelection.Select(new RunRequest { Workloads = ["200-1500"], Codecs = ["custom"] })).Message);
    }

    [Fact]
    public void PeersGetThemAsTheyGetTheRegistrys()
    {
        var (own, listed) = (PeerWorkloads.Of("200-1500", null).AsObject(), PeerWorkloads.Of("32", null).AsObject());

        Assert.Equal(listed.Select(p => p.Key), own.Select(p => p.Key));
        Assert.Equal(("200-1500", 200, 1500), ((string?)own["id"], (int?)own["request_bytes"], (int?)own["reply_bytes"]));
        Assert.Contains("handler", own["scenarios"]!.AsArray().Select(s => (string?)s));
    }

    [Fact]
    public void ReportsSayTheSizes()
    {
        Assert.Equal("200 B -> 1.5 kB", Names.Size("call", "200-1500"));
        Assert.Equal("200 B", Names.Size("oneway", "200-0"));
        Assert.Equal(1700, Names.BytesOf("200-1500"));
    }

    [Theory]
    [InlineData("native:managed", "call", "1-1")]
    [InlineData("managed:native", "call", "1-1")]
    [InlineData("native:managed", "handler", "57-3")]
    [InlineData("managed:native", "handler", "57-3")]
    [InlineData("bound:native", "handler", "200-0")]
    [InlineData("native:managed", "oneway", "200-0")]
    public async Task ThePeersPlayThem(string pair, string scenario, string workload)
    {
        var (record, samples) = await LaunchAsync(new Cell("shm", pair, "raw", scenario, workload));

        Assert.Contains(record.Status, (string[])["ok", "unsteady"]);
        Assert.NotEmpty(samples);
    }

    private static IEnumerable<string> ScenariosOf(string transport, string workload, params string[] scenarios) =>
        CellSelection.Select(new RunRequest { Transports = [transport], Pairs = ["native:native"], Workloads = [workload], Scenarios = scenarios })
            .Select(c => c.Scenario);
}
