using System.Globalization;
using System.IO.Compression;
using System.Net;
using System.Reflection;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Ipc.Lab.Reporting.Model;

namespace Ipc.Lab.Reporting.Page;

/// <summary>measurements.MACHINE.htm: one file that needs nothing else, neither a network nor other files.</summary>
internal static class PageWriter
{
    // The page's own script: these files, in this order, then every section in the order it has on the page.
    private static readonly string[] s_scripts =
    [
        "format", "data", "state", "decide", "charts", "sections",
        "sections.use", "sections.pairs", "sections.sizes", "sections.sweep", "sections.tails", "sections.cost", "sections.paced",
        "sections.parts", "sections.buckets", "sections.inflight", "sections.caches", "sections.oneway",
        "sections.findings", "sections.published", "sections.machine", "sections.cells", "main",
    ];

    /// <summary>The page of one machine; the others are those of the same report.</summary>
    public static string Write(MachineReport machine, IReadOnlyList<MachineReport> others)
    {
        var title = $"Measurements on {machine.Label}";
        var script = string.Join('\n', s_scripts.Select(name => Resource($"{name}.js")));
        // One pass over the template, so that nothing inside the parts is taken for a place.
        var parts = Resource("page.html").Split("{{");
        var text = new StringBuilder(parts[0]);
        foreach (var part in parts.Skip(1))
        {
            var end = part.IndexOf("}}", StringComparison.Ordinal);
            text.Append(part[..end] switch
            {
                "title" or "heading" => WebUtility.HtmlEncode(title),
                "styles" => Resource("page.css"),
                "echarts" => Resource("echarts.js"),
                "script" => $"(() => {{\n'use strict';\n{script}\n}})();",
                "figures" => Pack(PageData.Figures(machine, others)),
                "launches" => Pack(PageData.Launches(machine)),
                var place => throw new InvalidOperationException($"page.html has a place '{place}' that nothing fills"),
            }).Append(part[(end + 2)..]);
        }
        return text.ToString();
    }

    /// <summary>The file name of a machine's page.</summary>
    public static string FileNameOf(MachineReport machine) => string.Create(CultureInfo.InvariantCulture, $"measurements.{machine.FileName}.htm");

    // Compressed because thousands of cells repeat the same names; base 64 is also safe inside HTML, whatever a peer wrote into a reason.
    private static string Pack(JsonNode json)
    {
        using var packed = new MemoryStream();
        using (var compressor = new GZipStream(packed, CompressionLevel.Optimal))
            JsonSerializer.Serialize(compressor, json);
        return Convert.ToBase64String(packed.ToArray());
    }

    private static string Resource(string name)
    {
        using var stream = Assembly.GetExecutingAssembly().GetManifestResourceStream($"ipc.page.{name}")
            ?? throw new InvalidOperationException($"the lab was built without '{name}' of its page");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().ReplaceLineEndings("\n");
    }
}
