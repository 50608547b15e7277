using System.Globalization;
using Ipc.Lab.Findings;
using Ipc.Lab.Reporting.Model;
using Ipc.Lab.Reporting.Page;
using Xunit;
using Xunit.Abstractions;

namespace Ipc.Lab.Tests.Reporting;

/// <summary>The page in a real browser. Chromium takes a second to start, so a test looks at many things.</summary>
public sealed class PageTests(ITestOutputHelper output)
{
    private static readonly string[] s_drawn = ["use", "sizes", "sweep", "tails", "cost", "paced", "parts", "buckets", "inflight", "oneway"];

    private static string Write(KeptFolder folder, int cells, out MachineReport machine)
    {
        machine = new PlausibleResults(11).Machine(cells: cells);
        var other = new PlausibleResults(12).Machine("otherbox", 400);
        var file = Path.Combine(folder.Path, PageWriter.FileNameOf(machine));
        File.WriteAllText(file, PageWriter.Write(machine, [other]));
        return file;
    }

    [Fact]
    public async Task ChartsAreDrawnFiltersWorkAndNothingComplains()
    {
        using var folder = new KeptFolder("page");
        var file = Write(folder, 1500, out var machine);
        await using var browser = await Browser.OpenAsync(file, height: 16000);

        // Every chart of every section, the tables, and the hostile reason as text.
        // A chart is drawn when it comes near the screen.
        foreach (var id in s_drawn)
            await browser.UntilAsync($"(document.getElementById('{id}').scrollIntoView(), document.querySelectorAll('#{id} .chart svg path').length > 3)");
        await browser.AskAsync("(scrollTo(0, 0), 1)");
        await browser.UntilAsync("document.querySelectorAll('#pairs table.heat').length > 5");
        Assert.Equal("100", await browser.AskAsync("document.querySelectorAll('#cells table.cells > tbody > tr').length"));
        Assert.NotEqual("0", await browser.AskAsync("document.querySelectorAll('#machines tbody tr').length"));
        Assert.NotEqual("0", await browser.AskAsync("document.querySelectorAll('#published tbody tr').length"));
        Assert.Equal($"{PublishedClaims.All.Count}", await browser.AskAsync("document.querySelectorAll('#findings tr[data-kind]').length"));

        // The answer is that of the workbook and the console.
        var questions = Question.Of(machine, "native:managed");
        await browser.AskAsync("location.hash = 'server=native&client=managed'");
        await browser.UntilAsync($"document.querySelectorAll('#use table.answers tbody tr td:nth-of-type(1)').length === {questions.Count}");
        var answers = (await browser.AskAsync("[...document.querySelectorAll('#use table.answers tbody tr td:nth-of-type(1)')].map(td => "
            + "[...td.querySelectorAll('b')].map(b => b.textContent).join(', ') || td.firstChild.textContent).join('|')")).Split('|');
        Assert.Equal(questions.Select(q => string.Join(", ", q.Verdict.Tied.Take(4).Select(q.NameOf))), answers);

        Assert.Contains(questions, q => q.Verdict.IsMixed);
        Assert.Equal($"{questions.Count(q => q.Verdict.IsMixed)}", await browser.AskAsync("document.querySelectorAll('#use table.answers .mixed').length"));

        // Fewer transports: asked by hand, kept in the address, gone from answers, charts and table.
        await browser.AskAsync("(document.querySelector('#no-transports').click(), document.querySelector('#transport-choices input[value=unix]').click())");
        Assert.Contains("transport=unix", Uri.UnescapeDataString(await browser.AskAsync("location.hash")).Replace("-,", "", StringComparison.Ordinal),
            StringComparison.Ordinal);
        Assert.Equal("unix", await browser.AskAsync("[...new Set([...document.querySelectorAll('#pairs caption')].map(c => c.textContent))].join()"));
        var unix = machine.Cells.Count(c => c.IsAlone || c.Result.Transport == "unix");
        Assert.StartsWith($"{unix} of {machine.Cells.Count} cells", await browser.AskAsync("document.querySelector('#cell-count').textContent"),
            StringComparison.Ordinal);

        // The same view from the address alone.
        await browser.GoAsync(file, "in-status=failed&find=hung&sort=workload&order=down&theme=dark");
        var failed = machine.Cells.Count(c => c.Result.Status == "failed");
        Assert.StartsWith($"{failed} of {machine.Cells.Count} cells", await browser.AskAsync("document.querySelector('#cell-count').textContent"),
            StringComparison.Ordinal);
        Assert.Equal("descending", await browser.AskAsync("document.querySelector('#cells th[data-key=workload]').getAttribute('aria-sort')"));
        Assert.Equal("dark", await browser.AskAsync("document.documentElement.dataset.theme"));

        // A cell opens into its launches, and its reason is text.
        await browser.AskAsync("document.querySelector('#cells td.open button').click()");
        await browser.UntilAsync("document.querySelectorAll('#cells tr.more table tbody tr').length === 10");
        Assert.Contains("onerror=", await browser.AskAsync("document.querySelector('#cells tr.more').textContent"), StringComparison.Ordinal);
        Assert.Equal("0", await browser.AskAsync("document.querySelectorAll('#cells img').length"));

        Assert.Empty(browser.Complaints);
    }

    // As in a short run: a call without a size of its own over one transport, and a call of 11 kB over two.
    [Fact]
    public async Task BeginsWithWhatMostTransportsWereMeasuredWith()
    {
        using var folder = new KeptFolder("first-message");
        var run = new PlausibleResults(11).Run("short", int.MaxValue, null);
        var machine = MachineReport.Of([
            new ReportRun("short", run with
            {
                Cells =
                [
                    .. run.Cells.Where(c => c is { Pair: "native:managed", Scenario: "call", Codec: "custom", Count: null } &&
                            (c is { Workload: "table", Transport: "shm" } || (c.Workload == "1k-10k" && c.Transport is "shm" or "unix")))
                        .Select(c => c with { Status = "ok", Reason = null }),
                ],
            })]).Single();
        Assert.Equal(3, machine.Cells.Count);
        var file = Path.Combine(folder.Path, PageWriter.FileNameOf(machine));
        File.WriteAllText(file, PageWriter.Write(machine, []));
        await using var browser = await Browser.OpenAsync(file, height: 2000);
        await browser.UntilAsync("document.querySelector('#need').value !== ''");
        Assert.Equal("call 1k-10k custom", await browser.AskAsync("document.querySelector('#need').value"));
    }

    [Fact]
    public async Task FiveThousandCellsAreUsableInTwoSeconds()
    {
        using var folder = new KeptFolder("page-5000");
        var file = Write(folder, 5000, out _);
        await using var browser = await Browser.OpenAsync(file);

        // Milliseconds from the start of loading until every control works; the bound is for a machine that others use meanwhile.
        var ready = int.Parse(await browser.AskAsync("document.documentElement.dataset.ready"), CultureInfo.InvariantCulture);
        Assert.InRange(ready, 1, 10_000);
        var typed = double.Parse(await browser.AskAsync(
            "(() => { const t = performance.now(); const f = document.querySelector('#cells input[type=search]'); "
            + "f.value = 'shm failed'; f.dispatchEvent(new Event('input')); return performance.now() - t; })()"), CultureInfo.InvariantCulture);
        Assert.InRange(typed, 0, 3_000);
        output.WriteLine($"5,000 cells: ready after {ready} ms, a filter takes {typed:0} ms");
        Assert.Empty(browser.Complaints);
    }

    [Fact]
    public async Task KeyboardSortsCopiesAndOpens()
    {
        using var folder = new KeptFolder("page-keys");
        var file = Write(folder, 300, out _);
        await using var browser = await Browser.OpenAsync(file);

        // The first stop of a keyboard skips to the answer.
        await browser.PressAsync("Tab");
        Assert.Equal("skip", await browser.AskAsync("document.activeElement.className"));

        await browser.AskAsync("document.querySelector('#cells th[data-key=p50] button').focus()");
        await browser.PressAsync("Enter");
        await browser.UntilAsync("document.querySelector('#cells th[data-key=p50]').ariaSort === 'ascending'");
        await browser.PressAsync("Enter");
        await browser.UntilAsync("document.querySelector('#cells th[data-key=p50]').ariaSort === 'descending'");
        Assert.Equal("p50", await browser.AskAsync("document.activeElement.closest('th').dataset.key"));

        await browser.AskAsync("document.querySelector('#copy').focus()");
        await browser.PressAsync("Enter");
        await browser.UntilAsync("document.querySelector('#copy').textContent === 'Copied 300 rows'");

        await browser.AskAsync("document.querySelector('#transports summary').focus()");
        await browser.PressAsync("Enter");
        await browser.UntilAsync("document.querySelector('#transports').open");
        await browser.PressAsync("Escape");
        await browser.UntilAsync("!document.querySelector('#transports').open");

        // What is only drawn can be read: each chart has a name and its figures as a table, each control a label.
        Assert.Equal("0", await browser.AskAsync("[...document.querySelectorAll('.chart')].filter(c => !c.getAttribute('aria-label')).length"));
        Assert.Equal("0", await browser.AskAsync(
            "[...document.querySelectorAll('select, input')].filter(c => !c.labels?.length && !c.getAttribute('aria-label')).length"));
        await browser.AskAsync("document.querySelector('#use details.data').open = true");
        await browser.UntilAsync("document.querySelectorAll('#use details.data tbody tr').length > 0");
        Assert.Empty(browser.Complaints);
    }

    [Theory]
    [InlineData(360, false)]
    [InlineData(1280, true)]
    [InlineData(2560, false)]
    public async Task FitsTheScreen(int width, bool dark)
    {
        using var folder = new KeptFolder($"page-{width}");
        var file = Write(folder, 1500, out _);
        await using var browser = await Browser.OpenAsync(file, width: width, dark: dark);

        Assert.Equal(dark ? "dark" : "light", await browser.AskAsync("document.documentElement.dataset.theme"));
        Assert.Equal(width.ToString(CultureInfo.InvariantCulture), await browser.AskAsync("Math.max(innerWidth, document.documentElement.scrollWidth)"));
        if (Environment.GetEnvironmentVariable("IPC_KEEP_REPORTS") is { Length: > 0 })
            await browser.PhotographAsync(Path.Combine(folder.Path, "page.png"));
        if (width == 1280)
        {
            var paper = await browser.PrintAsync();
            Assert.StartsWith("%PDF", System.Text.Encoding.ASCII.GetString(paper, 0, 4), StringComparison.Ordinal);
            await File.WriteAllBytesAsync(Path.Combine(folder.Path, "paper.pdf"), paper);
        }
        Assert.Empty(browser.Complaints);
    }

    [Fact]
    public void NeedsNothingFromOutside()
    {
        var page = PageWriter.Write(new PlausibleResults(1).Machine(cells: 50), []);

        Assert.Contains("default-src 'none'", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<script src", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<link rel=\"stylesheet\"", page, StringComparison.Ordinal);
        Assert.DoesNotContain("{{", page[..page.IndexOf("<script>", StringComparison.Ordinal)], StringComparison.Ordinal);
    }
}
