using System.Text.Json.Nodes;
using Ipc.Lab.Commands;
using Ipc.Lab.Findings;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>`ipc list`: everything the registry holds, on a terminal of 80 columns.</summary>
public sealed class ListTests
{
    private const int Columns = 80;

    private static string List(string? kind, string? name = null, bool asJson = false)
    {
        using var text = new StringWriter();
        ListCommand.Write(text, kind, name, asJson);
        return text.ToString();
    }

    private static string[] Lines(string? kind, string? name = null) => List(kind, name).TrimEnd().Split(Environment.NewLine);

    [Fact]
    public void AsJsonItIsTheRegistry() => Assert.True(JsonNode.DeepEquals(JsonNode.Parse(Registry.Json), JsonNode.Parse(List(null, asJson: true))));

    [Fact]
    public void OneTransportAsJsonIsItsEntry() => Assert.Equal("shm", (string?)JsonNode.Parse(List("transports", "shm", asJson: true))!["id"]);

    [Fact]
    public void ClaimsHaveNamesForRun()
    {
        Assert.Contains(Lines("claims"), line => line.StartsWith("managed-client ", StringComparison.Ordinal));
        var asJson = JsonNode.Parse(List("claims", asJson: true))!.AsArray();
        Assert.Equal(PublishedClaims.All.Select(c => c.Id), asJson.Select(c => (string?)c!["id"]));
        Assert.All(asJson, c => Assert.NotNull(c!["cells"]));
    }

    [Fact]
    public void EveryTransportHasOneLine()
    {
        var lines = Lines("transports");

        Assert.Equal(Registry.Transports.Select(t => t.Id), lines.Select(line => line.Split(' ')[0]).Take(Registry.Transports.Count));
        // And one that says where the rest stands.
        Assert.Contains("ipc list transports NAME", lines[^1], StringComparison.Ordinal);
        Assert.Equal(Registry.Transports.Count + 1, lines.Length);
    }

    [Fact]
    public void NoLineIsLongerThanATerminalIsWide()
    {
        Assert.All(Lines(null), line => Assert.True(line.Length <= Columns, line));
        Assert.All(Registry.Transports.SelectMany(t => Lines("transports", t.Id)), line => Assert.True(line.Length <= Columns, line));
    }

    [Fact]
    public void ATransportByNameShowsItsOptionsAndWhereItCannotBeHad()
    {
        var shm = List("transports", "shm");
        Assert.Contains("?wait=adaptive,spin,block", shm, StringComparison.Ordinal);
        Assert.Contains("default adaptive", shm, StringComparison.Ordinal);
        Assert.DoesNotContain("usually", List(null) + shm, StringComparison.Ordinal);

        Assert.Contains("not for managed:", List("transports", "iceoryx"), StringComparison.Ordinal);
        Assert.Contains("2.0", List("transports", "iceoryx"), StringComparison.Ordinal);
    }
}
