using System.Globalization;
using System.Text;

namespace Ipc.Distribution;

/// <summary>docs/addresses.md: every transport with its options, as the registry has them.</summary>
internal static class AddressReference
{
    public const string Page = "docs/addresses.md";

    // What each kind of transport is for, in the order of the page.
    private static readonly (string Kind, string Title, string Text)[] s_kinds =
    [
        ("channel", "Channels", "Two ways, calls or messages: `ipc_listen` and `ipc_connect`, `IIpc.Listen` and `IIpc.Connect`."),
        ("call", "Calls only", "The client calls or sends, the server answers. The functions are those of channels; a server cannot send of its own accord."),
        ("queue", "Queues", "One way, any number of writers and readers, each message to one reader: `ipc_queue_open`, `IIpc.OpenQueue`."),
        ("broadcast", "Broadcast",
            "One way, one writer, each message to every reader: `ipc_publisher_open` and `ipc_subscriber_open`, `IIpc.Publish` and `IIpc.Subscribe`."),
    ];

    /// <summary>The whole page.</summary>
    public static string Text()
    {
        var page = new StringBuilder();
        page.Append("""
            <!-- Made from registry.json by scripts/distribution.sh. -->

            # Addresses

            An address is `transport://name?option=value&option=value`. It is the same text in C, C++ and C#, and both processes use the same transport
            and name. Each process gives its own options; where one of them decides for both, the option says so. An option that a transport does not
            have is refused with `BAD_OPTION`, and so is a value that it does not take.

            Names consist of 1 to 80 characters out of `A-Z a-z 0-9 . _ -` and do not begin with a dot, unless the table of a transport says otherwise.
            Sizes take `k`, `M` and `G`.


            """.ReplaceLineEndings("\n"));
        page.Append("| Transport | What it is | Systems |\n|---|---|---|\n");
        foreach (var transport in Opened())
            page.Append(CultureInfo.InvariantCulture, $"| [`{transport.Id}`](#{transport.Id}) | {transport.Summary} | {Systems(transport)} |\n");
        page.Append("\n## Options of all transports\n\n");
        AppendOptions(page, Registry.CommonOptions);
        foreach (var (kind, title, text) in s_kinds)
        {
            page.Append(CultureInfo.InvariantCulture, $"\n## {title}\n\n{text}\n");
            foreach (var transport in Opened().Where(transport => transport.Kind == kind))
                AppendTransport(page, transport);
        }
        return page.ToString();
    }

    // A transport that neither library opens is one of the lab's.
    private static IEnumerable<TransportEntry> Opened() =>
        Registry.Transports.Where(transport => transport.Sides.Any(side => side.Key is "native" or "managed" && side.Value.Length == 0));

    private static void AppendTransport(StringBuilder page, TransportEntry transport)
    {
        page.Append(CultureInfo.InvariantCulture, $"\n### {transport.Id}\n\n{Sentence(transport.Summary)}");
        if (transport.Detail is { } detail)
            page.Append(CultureInfo.InvariantCulture, $" {Sentence(detail)}");
        page.Append("\n\n| | |\n|---|---|\n");
        page.Append(CultureInfo.InvariantCulture, $"| form | `{transport.Id}://{Escape(transport.NameForm)}` |\n");
        page.Append(CultureInfo.InvariantCulture, $"| systems | {Systems(transport)} |\n");
        page.Append(CultureInfo.InvariantCulture, $"| languages | {Languages(transport)} |\n");
        page.Append(CultureInfo.InvariantCulture, $"| largest message | {transport.LargestMessage} |\n");
        page.Append(CultureInfo.InvariantCulture, $"| messages in place | {(transport.ZeroCopy ? "yes, in the shared memory" : "through a buffer")} |\n");
        page.Append(CultureInfo.InvariantCulture,
            $"| who may connect | {(transport.Network ? "the same user over loopback; on a network everybody, with `users=any`" : "the same user")} |\n");
        if (!transport.Hardened)
            page.Append("| trust | not hardened against a hostile peer: for comparison only |\n");
        if (transport.Module is { } module)
            page.Append(CultureInfo.InvariantCulture,
                $"| needs | Debian's `{module.Package}`{(module.Daemon is { } daemon ? $" and the running program `{daemon}`" : "")} |\n");
        if (transport.Options.Count == 0)
            return;
        page.Append('\n');
        AppendOptions(page, transport.Options);
    }

    private static void AppendOptions(StringBuilder page, IReadOnlyList<OptionEntry> options)
    {
        page.Append("| Option | Values | Default | Meaning |\n|---|---|---|---|\n");
        foreach (var option in options)
        {
            var values = option.Choices is { } choices ? string.Join(", ", choices.Split(',').Select(choice => $"`{choice}`")) : $"a {option.Kind}";
            page.Append(CultureInfo.InvariantCulture, $"| `{option.Name}` | {values} | `{option.Default}` | {Escape(Sentence(option.Help))} |\n");
        }
    }

    private static string Systems(TransportEntry transport) =>
        string.Join(", ", transport.Platforms.Select(platform => platform == "linux" ? "Linux" : "Windows"));

    private static string Languages(TransportEntry transport)
    {
        var native = transport.Sides["native"].Length == 0;
        var managed = transport.Sides["managed"].Length == 0;
        return (native, managed) switch
        {
            (true, true) => "C, C++, C#",
            (true, false) => "C, C++",
            _ => "C#",
        };
    }

    private static string Sentence(string text) => $"{char.ToUpperInvariant(text[0])}{text[1..]}.";

    private static string Escape(string text) => text.Replace("|", "\\|", StringComparison.Ordinal);
}
