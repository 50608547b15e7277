using System.Diagnostics;
using System.Net.WebSockets;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Ipc.Lab.Tests.Reporting;

/// <summary>Chromium without a window, and one page in it, spoken to by its DevTools protocol. A library that does this brings a browser
/// driver of 0.8 GB along, for what takes a web socket and JSON.</summary>
internal sealed class Browser : IAsyncDisposable
{
    private static readonly TimeSpan s_bound = TimeSpan.FromSeconds(60);

    private readonly TemporaryFolder _profile;
    private readonly Process _process;
    private readonly ClientWebSocket _socket = new();
    private readonly List<string> _complaints = [];
    private int _lastId;

    private Browser(Process process, TemporaryFolder profile) => (_process, _profile) = (process, profile);

    /// <summary>Errors of scripts and of the console, in the order they came.</summary>
    public IReadOnlyList<string> Complaints => _complaints;

    /// <summary>The browser as Debian, Ubuntu, Chrome's own packages and IPC_CHROMIUM have it.</summary>
    private static string Program =>
        ((string?[])[Environment.GetEnvironmentVariable("IPC_CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"])
        .FirstOrDefault(p => !string.IsNullOrEmpty(p) && File.Exists(p))
        ?? throw new FileNotFoundException("no Chromium is installed: apt-get install chromium, or name one by IPC_CHROMIUM");

    /// <summary>Opens a file and waits until the report in it is drawn.</summary>
    public static async Task<Browser> OpenAsync(string file, string choices = "", int width = 1280, int height = 900, bool dark = false)
    {
        var profile = new TemporaryFolder();
        string[] arguments =
        [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*",
            $"--user-data-dir={profile.Path}", "about:blank",
        ];
        var start = new ProcessStartInfo(Program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true };
        start.Environment["TMPDIR"] = profile.Path; // what it leaves goes with the profile
        var browser = new Browser(Process.Start(start)!, profile);
        try
        {
            browser._process.ErrorDataReceived += (_, _) => { };
            browser._process.BeginErrorReadLine();
            browser._process.BeginOutputReadLine();
            await browser.ConnectAsync().ConfigureAwait(false);
            await browser.CallAsync("Runtime.enable").ConfigureAwait(false);
            await browser.CallAsync("Log.enable").ConfigureAwait(false);
            await browser.CallAsync("Page.enable").ConfigureAwait(false);
            await browser.ResizeAsync(width, height).ConfigureAwait(false);
            await browser.CallAsync("Emulation.setEmulatedMedia", new JsonObject
            {
                ["features"] = new JsonArray(new JsonObject { ["name"] = "prefers-color-scheme", ["value"] = dark ? "dark" : "light" }),
            }).ConfigureAwait(false);
            await browser.GoAsync(file, choices).ConfigureAwait(false);
            return browser;
        }
        catch
        {
            await browser.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public async Task GoAsync(string file, string choices = "")
    {
        await CallAsync("Page.navigate", new JsonObject { ["url"] = "about:blank" }).ConfigureAwait(false);
        await CallAsync("Page.navigate", new JsonObject { ["url"] = new Uri(file).AbsoluteUri + (choices.Length > 0 ? "#" + choices : "") })
            .ConfigureAwait(false);
        await UntilAsync("document.documentElement?.dataset.ready").ConfigureAwait(false);
    }

    public Task ResizeAsync(int width, int height) => CallAsync("Emulation.setDeviceMetricsOverride", new JsonObject
    {
        ["width"] = width,
        ["height"] = height,
        ["deviceScaleFactor"] = 1,
        ["mobile"] = false,
    });

    /// <summary>What an expression is, as text; of promises what they bring.</summary>
    public async Task<string> AskAsync(string expression)
    {
        var answer = await CallAsync("Runtime.evaluate", new JsonObject
        {
            ["expression"] = $"Promise.resolve({expression}).then(String)",
            ["awaitPromise"] = true,
            ["userGesture"] = true
        }).ConfigureAwait(false);
        if (answer["exceptionDetails"] is { } problem)
            throw new InvalidOperationException($"{expression}: {problem["exception"]?["description"]}");
        return (string?)answer["result"]!["value"] ?? "";
    }

    public async Task UntilAsync(string condition)
    {
        var clock = Stopwatch.StartNew();
        while (await AskAsync($"!!({condition})").ConfigureAwait(false) != "true")
        {
            if (clock.Elapsed > s_bound)
                throw new TimeoutException($"never true: {condition}; {string.Join("; ", _complaints)}");
            await Task.Delay(20).ConfigureAwait(false);
        }
    }

    /// <summary>Presses a key as a keyboard does.</summary>
    public async Task PressAsync(string key)
    {
        var code = key switch { "Enter" => 13, "Tab" => 9, "Escape" => 27, " " => 32, _ => 0 };
        foreach (var type in (string[])["keyDown", "keyUp"])
        {
            var parameters = new JsonObject { ["type"] = type, ["key"] = key, ["code"] = key, ["windowsVirtualKeyCode"] = code };
            if (key == "Enter" && type == "keyDown")
                parameters["text"] = "\r";
            await CallAsync("Input.dispatchKeyEvent", parameters).ConfigureAwait(false);
        }
    }

    /// <summary>The page as a picture, from its head to the given height.</summary>
    public async Task PhotographAsync(string file, int? height = null)
    {
        var width = int.Parse(await AskAsync("innerWidth").ConfigureAwait(false), null);
        var all = height ?? int.Parse(await AskAsync("document.documentElement.scrollHeight").ConfigureAwait(false), null);
        await ResizeAsync(width, all).ConfigureAwait(false);
        await Task.Delay(800).ConfigureAwait(false);
        var answer = await CallAsync("Page.captureScreenshot", new JsonObject { ["format"] = "png" }).ConfigureAwait(false);
        await File.WriteAllBytesAsync(file, Convert.FromBase64String((string)answer["data"]!)).ConfigureAwait(false);
    }

    /// <summary>The page as it would be printed.</summary>
    public async Task<byte[]> PrintAsync()
    {
        var answer = await CallAsync("Page.printToPDF", new JsonObject { ["printBackground"] = true }).ConfigureAwait(false);
        return Convert.FromBase64String((string)answer["data"]!);
    }

    public async ValueTask DisposeAsync()
    {
        _socket.Dispose();
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync().ConfigureAwait(false);
        _process.Dispose();
        // Its helpers may still be writing as they go.
        for (var tries = 0; Directory.Exists(_profile.Path); tries++)
        {
            try
            {
                _profile.Dispose();
            }
            catch (IOException) when (tries < 50)
            {
                await Task.Delay(50).ConfigureAwait(false);
            }
        }
    }

    private async Task ConnectAsync()
    {
        var clock = Stopwatch.StartNew();
        var note = Path.Combine(_profile.Path, "DevToolsActivePort");
        while (!File.Exists(note) || (await File.ReadAllLinesAsync(note).ConfigureAwait(false)).Length < 2)
        {
            if (_process.HasExited || clock.Elapsed > s_bound)
                throw new TimeoutException("Chromium did not start");
            await Task.Delay(20).ConfigureAwait(false);
        }
        var port = (await File.ReadAllLinesAsync(note).ConfigureAwait(false))[0];
        using var http = new HttpClient();
        var targets = JsonNode.Parse(await http.GetStringAsync(new Uri($"http://127.0.0.1:{port}/json/list")).ConfigureAwait(false))!.AsArray();
        var page = targets.First(t => (string?)t!["type"] == "page")!;
        await _socket.ConnectAsync(new Uri((string)page["webSocketDebuggerUrl"]!), default).ConfigureAwait(false);
    }

    // One call at a time; what the page says meanwhile is kept.
    private async Task<JsonNode> CallAsync(string method, JsonObject? parameters = null)
    {
        using var bound = new CancellationTokenSource(s_bound);
        var id = ++_lastId;
        var call = new JsonObject { ["id"] = id, ["method"] = method, ["params"] = parameters ?? [] };
        await _socket.SendAsync(JsonSerializer.SerializeToUtf8Bytes(call), WebSocketMessageType.Text, true, bound.Token).ConfigureAwait(false);
        while (true)
        {
            var message = await ReceiveAsync(bound.Token).ConfigureAwait(false);
            if ((int?)message["id"] == id)
            {
                return message["error"] is { } error
                    ? throw new InvalidOperationException($"{method}: {error["message"]}")
                    : message["result"]!;
            }
            Hear(message);
        }
    }

    private void Hear(JsonNode message)
    {
        switch ((string?)message["method"])
        {
            case "Runtime.exceptionThrown":
                _complaints.Add((string?)message["params"]!["exceptionDetails"]!["exception"]?["description"] ?? message.ToJsonString());
                break;
            case "Runtime.consoleAPICalled" when (string?)message["params"]!["type"] is "error" or "warning" or "assert":
                _complaints.Add(message["params"]!["args"]!.ToJsonString());
                break;
            case "Log.entryAdded" when (string?)message["params"]!["entry"]!["level"] is "error" or "warning":
                _complaints.Add((string?)message["params"]!["entry"]!["text"] ?? "");
                break;
        }
    }

    private async Task<JsonNode> ReceiveAsync(CancellationToken bound)
    {
        using var whole = new MemoryStream();
        var part = new byte[64 * 1024];
        WebSocketReceiveResult got;
        do
        {
            got = await _socket.ReceiveAsync(part, bound).ConfigureAwait(false);
            whole.Write(part, 0, got.Count);
        }
        while (!got.EndOfMessage);
        whole.Position = 0;
        return (await JsonNode.ParseAsync(whole, cancellationToken: bound).ConfigureAwait(false))!;
    }
}
