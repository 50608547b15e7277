using System.Diagnostics;
using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Xunit;

namespace Ipc.Distribution.Tests;

/// <summary>What all pages have to keep to: links lead somewhere, and code is either a program that a test compiles or marked as a fragment.</summary>
public sealed partial class PagesTests
{
    private static readonly string s_root = Path.GetDirectoryName(RepositoryRoot.Find("README.md"))!;

    // The pages whose programs are compiled, and what does it.
    private static readonly Dictionary<string, string> s_compiled = new()
    {
        ["README.md"] = nameof(ReadmeTests),
        ["docs/moving.md"] = nameof(MovingTests),
        ["docs/start.md"] = nameof(StartTests),
        ["docs/abi.md"] = nameof(StartTests),
        ["docs/hosting.md"] = nameof(HostingTests),
        ["docs/adding-a-transport.md"] = "scripts/try-adding-transport.sh",
    };

    // The pages whose fragments are compiled, by FragmentTests.
    private static readonly string[] s_fragments = ["docs/dotnet.md", "docs/wcf.md"];

    public static TheoryData<string> Pages =>
    [
        .. new[] { "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md" },
        .. new[] { "examples/README.md", "distribution/README.md", "lib/README.md", "packaging/README.md", "site/README.md" },
        .. Directory.GetFiles(Path.Combine(s_root, "docs"), "*.md").Select(file => $"docs/{Path.GetFileName(file)}").Order(StringComparer.Ordinal),
    ];

    [Theory]
    [MemberData(nameof(Pages))]
    public void Every_link_leads_somewhere(string page)
    {
        var folder = Path.GetDirectoryName(Path.Combine(s_root, page))!;
        foreach (Match link in Link().Matches(WithoutCode(File.ReadAllText(Path.Combine(s_root, page)))))
        {
            var target = link.Groups[1].Value;
            if (target.Contains(':', StringComparison.Ordinal) && !target.Contains('/', StringComparison.Ordinal) || Elsewhere().IsMatch(target))
                continue;
            var (path, anchor) = target.Split('#', 2) is [var p, var a] ? (p, a) : (target, "");
            var file = path.Length == 0 ? Path.Combine(s_root, page) : Path.GetFullPath(Path.Combine(folder, path));
            Assert.True(File.Exists(file) || Directory.Exists(file), $"{page}: the link to {target} leads nowhere");
            if (anchor.Length > 0 && file.EndsWith(".md", StringComparison.Ordinal))
                Assert.True(Anchors(file).Contains(anchor), $"{page}: {path} has no heading '#{anchor}'; it has {string.Join(", ", Anchors(file))}");
        }
    }

    [Theory]
    [MemberData(nameof(Pages))]
    public void Code_is_a_program_that_is_compiled_or_marked_as_a_fragment(string page)
    {
        foreach (Match block in Block().Matches(File.ReadAllText(Path.Combine(s_root, page))))
        {
            if (block.Groups["mark"].Value == "fragment")
            {
                Assert.True(s_fragments.Contains(page), $"{page}: nothing compiles its fragments: see {nameof(FragmentTests)}");
                continue;
            }
            Assert.True(block.Groups["mark"].Length == 0, $"{page}: '{block.Groups["mark"].Value}' is no mark of a block of code: 'fragment' is one");
            var first = block.Groups["first"].Value;
            Assert.True(NameOfFile().IsMatch(first),
                $"{page}: the block that begins with '{first}' has no file's name in its first line: give it one, or mark it as a fragment");
            Assert.True(s_compiled.ContainsKey(page), $"{page}: nothing compiles '{first}': write a test and name it here");
        }
    }

    [Fact]
    public void The_page_of_addresses_is_what_the_registry_says() =>
        Assert.Equal(AddressReference.Text(), File.ReadAllText(Path.Combine(s_root, AddressReference.Page)).ReplaceLineEndings("\n"));

    // The page is walked through as a whole by scripts/try-adding-transport.sh, which takes minutes.
    [Fact]
    public void The_page_about_a_new_transport_has_a_row_like_the_others_and_rooms_where_rooms_are()
    {
        var page = File.ReadAllText(Path.Combine(s_root, "docs/adding-a-transport.md"));
        var row = JsonNode.Parse(RegistryRow().Match(page).Groups[1].Value)!.AsObject();
        var like = JsonNode.Parse(Registry.Json)!["transports"]!.AsArray().Single(other => (string)other!["id"]! == "fifo")!.AsObject();
        Assert.Equal(like.Select(member => member.Key).Where(key => key != "detail"), row.Select(member => member.Key));
        Assert.DoesNotContain(Registry.Transports, transport => transport.Id == (string)row["id"]!);
        var rooms = Room().Matches(page).Select(match => match.Groups[1].Value).ToList();
        Assert.Equal(["native/src/transports", "managed/Ipc/Transports"], rooms.Select(room => Path.GetDirectoryName(Path.GetDirectoryName(room))!));
        Assert.All(rooms, room => Assert.True(Directory.Exists(Path.Combine(s_root, Path.GetDirectoryName(Path.GetDirectoryName(room))!)), room));
    }

    [Theory]
    [Trait("system", "linux")]
    [InlineData("<a href='b.html#there'>", 0, "2 pages, 1 links, 0 of them wrong")]
    [InlineData("<a href='/base/b.html#missing'>", 1, "b.html has nothing of that name")]
    [InlineData("<a href='c.html'>", 1, "c.html leads nowhere")]
    [InlineData("<img src='/b.html'>", 1, "is outside /base/")]
    public void The_check_of_the_site_finds_a_broken_link(string link, int code, string said)
    {
        var site = Directory.CreateTempSubdirectory("ipc-site-");
        try
        {
            File.WriteAllText(Path.Combine(site.FullName, "a.html"), link);
            File.WriteAllText(Path.Combine(site.FullName, "b.html"), "<h2 id='there'>");
            string[] arguments = [Path.Combine(s_root, "site/check_links.py"), site.FullName, "/base/"];
            using var check = Process.Start(new ProcessStartInfo("python3", arguments) { RedirectStandardOutput = true })!;
            var output = check.StandardOutput.ReadToEnd();
            check.WaitForExit();
            Assert.Equal(code, check.ExitCode);
            Assert.Contains(said, output, StringComparison.Ordinal);
        }
        finally
        {
            site.Delete(recursive: true);
        }
    }

    // Headings as the anchors that both the repository's pages and the site give them.
    private static HashSet<string> Anchors(string file)
    {
        var anchors = new HashSet<string>();
        foreach (Match heading in Heading().Matches(WithoutCode(File.ReadAllText(file), keepInline: true)))
        {
            var text = new StringBuilder();
            foreach (var rune in heading.Groups[1].Value.ToLowerInvariant())
            {
                if (char.IsLetterOrDigit(rune) || rune is '-' or '_')
                    text.Append(rune);
                else if (rune == ' ')
                    text.Append('-');
            }
            anchors.Add(text.ToString());
        }
        return anchors;
    }

    private static string WithoutCode(string text, bool keepInline = false)
    {
        text = WholeBlock().Replace(text, "");
        return keepInline ? text : Inline().Replace(text, "");
    }

    [GeneratedRegex(@"(?<=\])\(([^()\s]+)\)")]
    private static partial Regex Link();
    [GeneratedRegex("^(https?|mailto):")]
    private static partial Regex Elsewhere();
    [GeneratedRegex(@"^#{1,6} (.+?)\s*$", RegexOptions.Multiline)]
    private static partial Regex Heading();
    [GeneratedRegex(@"^```.*?^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex WholeBlock();
    [GeneratedRegex("`[^`\n]+`")]
    private static partial Regex Inline();
    [GeneratedRegex(@"^```(?:c|cpp|csharp|python)(?: (?<mark>[^\n]*))?\n(?<first>[^\n]*)", RegexOptions.Multiline)]
    private static partial Regex Block();
    [GeneratedRegex(@"^(?:/\*|//|#) [\w./-]+\.(?:c|cpp|cs|py)\b")]
    private static partial Regex NameOfFile();
    [GeneratedRegex(@"^```json\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex RegistryRow();
    [GeneratedRegex(@"^```(?:cpp|csharp)\n// (\S+)$", RegexOptions.Multiline)]
    private static partial Regex Room();
}
