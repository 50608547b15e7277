using System.Text.Json.Nodes;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>A cell that cannot be played, given to the real peers: whoever writes a runner of his own is told by both which field is wrong.</summary>
public sealed class BadCellTests
{
    private const string Good = """
        {"role":"client","side":"SIDE","address":"unix://nobody","codec":"raw","scenario":"call",
         "workload":{"id":"32","request_bytes":32,"reply_bytes":32,"scenarios":["call"],"codecs":["raw"]},"seed":7,
         "cpu":null,"warmup_seconds":0.1,"seconds":0.5,"count":null,"samples":null}
        """;

    // What is wrong and a word of the complaint; both peers have sentences of their own.
    private static readonly (string Right, string Wrong, string Word)[] s_mistakes =
    [
        ("\"client\"", "\"judge\"", "judge"),
        ("\"SIDE\"", "\"java\"", "java"),
        ("unix://nobody", "", "address"),
        ("\"seed\":7", "\"sead\":7", "seed"),
        ("\"seconds\":0.5", "\"seconds\":0", "seconds"),
        ("\"seconds\":0.5", "\"seconds\":\"long\"", "seconds"),
        ("\"count\":null", "\"count\":0", "count"),
        ("\"count\":null", "\"clients\":0", "client"),
        ("\"count\":null", "\"clients\":128", "client"),
        ("\"count\":null", "\"clients\":2,\"client\":2", "client"),
        ("\"count\":null", "\"threads\":0", "threads"),
        ("\"count\":null", "\"portion\":0", "portion"),
        ("\"count\":null", "\"batch\":65537", "batch"),
        ("\"count\":null", "\"in_flight\":257", "flight"),
        ("\"count\":null", "\"pause_us\":1000001", "pause"),
        ("\"count\":null", "\"pool_bytes\":2000000000", "pool"),
        ("\"count\":null", "\"order\":\"backwards\"", "backwards"),
        ("\"count\":null", "\"client\":-1", "client"),
        ("\"count\":null", "\"client\":2147483647", "client"),
        ("\"count\":null", "\"client\":4294967295", "client"),
        ("\"count\":null", "\"clients\":4294967298,\"client\":1", "client"),
        ("\"count\":null", "\"threads\":1.5", "threads"),
        ("\"count\":null", "\"batch\":true", "batch"),
        ("\"count\":null", "\"count\":-5", "count"),
        ("\"cpu\":null", "\"cpu\":4294967296", "cpu"),
        ("\"seed\":7", "\"seed\":-7", "seed"),
        ("\"seed\":7", "\"seed\":99999999999999999999", "seed"),
        ("\"seconds\":0.5", "\"seconds\":1e300", "seconds"),
        ("\"warmup_seconds\":0.1", "\"warmup_seconds\":1e300", "warmup_seconds"),
        ("\"request_bytes\":32", "\"request_bytes\":-1", "request_bytes"),
        ("\"request_bytes\":32", "\"request_bytes\":4294967328", "request_bytes"),
        ("\"reply_bytes\":32", "\"reply_bytes\":2000000000", "reply_bytes"),
        ("\"id\":\"32\",", "\"id\":\"32\",\"n\":-4,", "-4"),
        ("\"id\":\"32\",", "\"id\":\"32\",\"bucket\":0,", "bucket"),
        ("\"id\":\"32\",", "\"id\":\"32\",\"rate\":1e300,", "rate"),
        ("\"id\":\"32\",", "\"id\":\"32\",\"rate\":-4,", "rate"),
        ("\"id\":\"32\",", "\"id\":\"32\",\"text\":[\"ping\"],", "text"),
        ("\"scenario\":\"call\",", "\"scenario\":\"shuffled\",", "pool_bytes"),
        ("\"raw\",\"scenario\":\"call\"", "\"raw\",\"scenario\":\"dance\"", "dance"),
    ];

    public static TheoryData<string, string, string, string> Mistakes
    {
        get
        {
            var data = new TheoryData<string, string, string, string>();
            foreach (var side in (string[])["native", "managed"])
            {
                foreach (var (right, wrong, word) in s_mistakes)
                    data.Add(side, right, wrong, word);
            }
            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Mistakes))]
    public async Task ThePeerNamesTheField(string side, string right, string wrong, string word)
    {
        Assert.Contains(right, Good, StringComparison.Ordinal);
        var cell = Good.Replace(right, wrong, StringComparison.Ordinal).Replace("SIDE", side, StringComparison.Ordinal);
        await using var peer = new Peer(Programs.OfThisTree().Peer(side), "client", "measured");
        await peer.SendAsync(JsonNode.Parse(cell));

        var failure = await Assert.ThrowsAsync<PeerFailure>(() => peer.ExpectAsync(TimeSpan.FromSeconds(30), CancellationToken.None, "warm"));

        Assert.Equal("INVALID_ARGUMENT", failure.Status);
        Assert.Contains(word, failure.Reason, StringComparison.Ordinal);
    }
}
