using Ipc.Lab.Planning;
using Ipc.Lab.Running;
using Xunit;

namespace Ipc.Lab.Tests;

public sealed class TableFileTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    private TableRequest Request(string text, string header = "first", string separator = ";", string[]? ids = null, string[]? fields = null) =>
        new(_folder.Write("table.csv", text), separator, header, ids ?? [], fields ?? []);

    private static string MistakeOf(TableRequest request) => Assert.Throws<UserMistakeException>(() => TableFile.Check(request)).Message;

    [Fact]
    public void TheFirstRowNamesTheFields()
    {
        var table = TableFile.Check(Request("id;name;size\na;Anna;1\nb;\"Bo;b\";2\n"));

        Assert.Null(table.Header);
        Assert.Equal(["a", "b"], table.Ids);
        Assert.Equal(["name", "size"], table.Fields);
    }

    [Fact]
    public void WithoutAHeaderFieldsAreNumbered()
    {
        var table = TableFile.Check(Request("a,Anna,1\n", header: "none", separator: ",", fields: ["3"]));

        Assert.Equal(["1", "2", "3"], table.Header);
        Assert.Equal(["3"], table.Fields);
    }

    [Fact]
    public void NamesMayBeGiven() => Assert.Equal(["k", "v"], TableFile.Check(Request("a;1\n", header: "k;v")).Header);

    [Fact]
    public void WrongTablesAreRefusedWithAnErrorMessage()
    {
        Assert.Contains("cannot be read", MistakeOf(new("/nowhere/table.csv", ";", "first", [], [])), StringComparison.Ordinal);
        Assert.Contains("cannot be read", MistakeOf(new(_folder.Path, ";", "first", [], [])), StringComparison.Ordinal);
        Assert.Contains("is empty", MistakeOf(Request("")), StringComparison.Ordinal);
        Assert.Contains("has no rows below its header", MistakeOf(Request("id;name\n")), StringComparison.Ordinal);
        Assert.Contains("the row of id 'b' has 3 fields, the header 2", MistakeOf(Request("id;name\na;1\nb;2;3\n")), StringComparison.Ordinal);
        Assert.Contains("has no field 'colour'; it has id, name", MistakeOf(Request("id;name\na;1\n", fields: ["colour"])), StringComparison.Ordinal);
        Assert.Contains("has no id 'z'; it has a", MistakeOf(Request("id;name\na;1\n", ids: ["z"])), StringComparison.Ordinal);
        Assert.Contains("is not one ASCII character", MistakeOf(Request("id\n", separator: ";;")), StringComparison.Ordinal);
        Assert.Contains("names a field twice", MistakeOf(Request("id;id\na;1\n")), StringComparison.Ordinal);
    }

    [Fact]
    public void AWrongSeparatorIsNamedAndTheRightOneToo()
    {
        Assert.Contains("no row is split by the separator ';'; its rows are split by ',': add --table-separator ','", MistakeOf(Request("id,name\na,1\n")),
            StringComparison.Ordinal);
        Assert.Contains("add --table-separator ';'", MistakeOf(Request("id;name\na;1,5\nb;2\n", separator: ",")), StringComparison.Ordinal);
        Assert.Contains("add --table-separator '\\t'", MistakeOf(Request("id\tname\na\t1\n", ids: ["a"], fields: ["name"])), StringComparison.Ordinal);
        Assert.Contains("has one column, the id, and nothing to ask for", MistakeOf(Request("id\na\n")), StringComparison.Ordinal);
    }

    [Fact]
    public void ATabMayBeWrittenAsTwoCharacters() => Assert.Equal("\t", TableFile.Check(Request("id\tname\na\t1\n", separator: "\\t")).Separator);

    [Fact]
    public void TextThatIsNotUtf8IsRefused()
    {
        var path = Path.Combine(_folder.Path, "latin1.csv");
        File.WriteAllBytes(path, [.. "id;name\na;caf"u8, 0xE9, (byte)'\n']);

        Assert.Contains("is not UTF-8", MistakeOf(new(path, ";", "first", [], [])), StringComparison.Ordinal);
    }

    [Fact]
    public void APeerGetsTheUsersTableInTheRegistrysForm()
    {
        var workload = PeerWorkloads.Of("table", TableFile.Check(Request("id;name\na;1\n")));

        Assert.Equal("a", (string?)workload["table"]!["ids"]![0]);
        Assert.Equal("name", (string?)workload["table"]!["fields"]![0]);
        Assert.Null(workload["table"]!["header"]);
        Assert.Equal("table", (string?)workload["id"]);
    }

    [Fact]
    public void OtherWorkloadsStayAsTheRegistryHasThem() =>
        Assert.Equal("""{"id":"32","request_bytes":32,"reply_bytes":32,"scenarios":["call","handler"],"codecs":["raw"]}""",
            PeerWorkloads.Of("32", null).ToJsonString());
}
