using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace Ipc.Lab.Running;

/// <summary>A process of ours: in a process group of its own, with its three streams in our hands, and gone when disposed.</summary>
/// <remarks>A group of its own keeps a terminal's Ctrl-C from the peers, so that the lab can end them in order.</remarks>
internal sealed partial class ChildProcess : IAsyncDisposable
{
    private const string Setsid = "/usr/bin/setsid";
    private const int SignalKill = 9;
    private const int LastWordsLength = 2000;
    private static readonly TimeSpan s_lastWordsBound = TimeSpan.FromSeconds(0.5);
    private static readonly TimeSpan s_endBound = TimeSpan.FromSeconds(5);

    private static readonly ConcurrentDictionary<ChildProcess, bool> s_running = new();

    private readonly Process _process;
    private readonly Lock _releasing = new();
    private bool _released; // its number may be another process's by now
    private readonly StringBuilder _lastWords = new();
    private readonly Task _errors;

    private ChildProcess(Process process)
    {
        _process = process;
        s_running.TryAdd(this, true);
        _errors = CollectErrorsAsync();
    }

    public int Id => _process.Id;

    /// <summary>The program's standard output.</summary>
    public Stream Output => _process.StandardOutput.BaseStream;

    /// <summary>Starts a program, or throws <see cref="PeerFailure"/> with an error message.</summary>
    public static ChildProcess Start(ProgramFile program, IEnumerable<string> arguments)
    {
        var ownGroup = OperatingSystem.IsLinux() && File.Exists(Setsid);
        string[] command = [.. program.Command, .. arguments];
        var start = new ProcessStartInfo(ownGroup ? Setsid : command[0], ownGroup ? command : command[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            StandardInputEncoding = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false),
            UseShellExecute = false,
        };
        // A .NET program host looks for the runtime in places of its own; ours runs on one that is certainly there.
        start.Environment.TryAdd("DOTNET_ROOT", Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "../../..")));
        try
        {
            return new ChildProcess(Process.Start(start)!);
        }
        catch (Exception e) when (e is System.ComponentModel.Win32Exception or InvalidOperationException)
        {
            throw new PeerFailure("NOT_STARTED", $"'{program.Path}' cannot be started: {ErrorMessage.Of(e)}");
        }
    }

    /// <summary>Writes a line to standard input. A process that is gone is noticed by its output's end, not here.</summary>
    public async Task SendAsync(string line)
    {
        try
        {
            await _process.StandardInput.WriteLineAsync(line).ConfigureAwait(false);
            await _process.StandardInput.FlushAsync().ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // See above.
        }
    }

    /// <summary>Ends standard input: the peer's sign to end.</summary>
    public void CloseInput()
    {
        try
        {
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // Already gone.
        }
    }

    /// <summary>Waits for the process's end; its exit code, or null if it still runs after the bound.</summary>
    public async Task<int?> WaitAsync(TimeSpan bound)
    {
        using var end = new CancellationTokenSource(bound);
        try
        {
            await _process.WaitForExitAsync(end.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            return _process.HasExited ? _process.ExitCode : null;
        }
        // All that it wrote is there to be read; but what it has started may have the stream for longer.
        await Task.WhenAny(_errors, Task.Delay(s_lastWordsBound)).ConfigureAwait(false);
        return _process.ExitCode;
    }

    /// <summary>For the end of an error message: the end of what it wrote to standard error, on one line; "" if nothing.</summary>
    public string LastWords()
    {
        lock (_lastWords)
            return ErrorMessage.OneLine(_lastWords.ToString()) is { Length: > 0 } words ? $"; its last words: {words}" : "";
    }

    /// <summary>Kills every process of ours that still runs.</summary>
    public static void KillAll()
    {
        foreach (var child in s_running.Keys)
            child.Kill();
    }

    /// <summary>Kills the process with everything it started. By any thread at any time, for a second Ctrl-C may come at any time.</summary>
    public void Kill()
    {
        lock (_releasing)
        {
            if (_released)
                return;
            if (OperatingSystem.IsLinux())
                _ = SendSignal(-_process.Id, SignalKill);
            try
            {
                // Reaches it also where it could not be given a group.
                _process.Kill(entireProcessTree: true);
            }
            catch (Exception e) when (e is InvalidOperationException or System.ComponentModel.Win32Exception)
            {
                // Already gone.
            }
        }
    }

    /// <summary>Ends when whoever reads its output has read it to the end.</summary>
    public Task OutputRead { get; set; } = Task.CompletedTask;

    /// <summary>Closes its input, gives it half a second to end in order, kills it and what it has started otherwise, and releases it; nobody may read
    /// its output any more.</summary>
    public async ValueTask DisposeAsync()
    {
        CloseInput();
        var ended = await WaitAsync(TimeSpan.FromSeconds(0.5)).ConfigureAwait(false) is not null;
        var streams = Task.WhenAll(_errors, OutputRead);
        await Task.WhenAny(streams, Task.Delay(ended ? s_lastWordsBound : TimeSpan.Zero)).ConfigureAwait(false);
        // Streams that go on are those of processes that it started, which are in its group still.
        if (!ended || !streams.IsCompleted)
        {
            Kill();
            // Not for ever: who has left the group may hold the streams for as long as it likes.
            await Task.WhenAny(Task.WhenAll(WaitAsync(s_endBound), streams), Task.Delay(s_endBound)).ConfigureAwait(false);
        }
        s_running.TryRemove(this, out _);
        lock (_releasing)
        {
            _released = true;
            _process.Dispose();
        }
    }

    private async Task CollectErrorsAsync()
    {
        var buffer = new char[1024];
        int count;
        while ((count = await _process.StandardError.ReadAsync(buffer).ConfigureAwait(false)) > 0)
        {
            lock (_lastWords)
            {
                _lastWords.Append(buffer, 0, count);
                if (_lastWords.Length > LastWordsLength)
                    _lastWords.Remove(0, _lastWords.Length - LastWordsLength);
            }
        }
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int SendSignal(int process, int signal);
}
