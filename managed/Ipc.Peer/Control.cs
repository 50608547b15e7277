using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>The line to the runner: JSON lines in on standard input, out on standard output. Once started, a thread of its own answers
/// commands, so that the thread that serves or measures is not disturbed. All members may be used by any thread.</summary>
[SuppressMessage("Design", "CA1001", Justification = "It lives as long as the process: the reading thread needs all of it to the end.")]
internal sealed partial class Control
{
    // A closed channel lets go of blocked calls within 100 ms; this is for a program that does not come back all the same.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan s_moment = TimeSpan.FromMilliseconds(2);

    private const string RuntimeCommand = "{\"command\":\"runtime\"}";

    private readonly StreamReader _input = new(Console.OpenStandardInput(), Encoding.UTF8);
    private readonly Stream _output = Console.OpenStandardOutput();
    private readonly Lock _writing = new();
    private readonly Lock _ending = new();
    private readonly ManualResetEvent _go = new(false);
    private readonly AutoResetEvent _warm = new(false);
    private readonly ManualResetEvent _ended = new(false);
    private readonly ManualResetEvent _leftOut = new(false);
    private Action? _interrupt;
    private volatile bool _hasEnded;
    private volatile bool _isLeavingOut;
    private long _bytesLeftOut;

    /// <summary>Whether the runner has ended standard input (or a signal has): there is nobody to work for.</summary>
    public bool HasEnded => _hasEnded;

    /// <summary>The cell; to be read once, before <see cref="Start"/>.</summary>
    public string ReadFirstLine() =>
        _input.ReadLine() ?? throw Failure.BadCell("standard input ended before a cell came: start this peer with `ipc run`, or see --help");

    public void Start()
    {
        // What a signal leaves undone (names in the file system) is the same as what the end of the input leaves.
        EndOnSignals();
        new Thread(ReadCommands) { IsBackground = true, Name = "standard input" }.Start();
    }

    /// <summary>Writes one line at once.</summary>
    public void Emit<TEvent>(TEvent value, JsonTypeInfo<TEvent> type)
    {
        var line = new MessageBuffer();
        JsonText.Encode(value, type, line);
        line.Write("\n"u8);
        lock (_writing)
        {
            _output.Write(line.Written);
            _output.Flush();
        }
    }

    public void WaitForGo()
    {
        WaitHandle.WaitAny([_go, _ended]);
        ThrowIfEnded();
    }

    /// <summary>Whether to go; false: to warm up further.</summary>
    public bool WaitForGoOrWarm()
    {
        var which = WaitHandle.WaitAny([_ended, _go, _warm]);
        ThrowIfEnded();
        return which == 1;
    }

    public void WaitForEnd() => _ended.WaitOne();

    public void ThrowIfEnded()
    {
        if (HasEnded)
            throw new Failure("CLOSED", "standard input ended before the cell was done: keep it open until the peer has answered");
    }

    /// <summary>What the end of standard input does from now on to make a blocked call return; replaces what was there. Null: nothing.</summary>
    public void OnEnd(Action? interrupt)
    {
        lock (_ending)
        {
            _interrupt = interrupt;
            if (HasEnded)
                interrupt?.Invoke();
        }
    }

    /// <summary>What the calling thread allocates from now on ends the service and is no part of it (the exception by which a closed channel
    /// shows, the event `served`): it must not appear as what serving costs.</summary>
    public void BeginLeavingOut() => _isLeavingOut = true;

    /// <summary>That was all, and it came to so many bytes.</summary>
    public void EndLeavingOut(long bytes)
    {
        _bytesLeftOut = bytes;
        _leftOut.Set();
    }

    private void ReadCommands()
    {
        while (_input.ReadLine() is { } line)
            Obey(line);
        End();
        Thread.Sleep(s_patience);
        Environment.Exit(Program.Failed);
    }

    private void End()
    {
        lock (_ending)
        {
            _hasEnded = true;
            _ended.Set();
            _interrupt?.Invoke();
        }
    }

    private void Obey(string line)
    {
        if (line == RuntimeCommand)
        {
            EmitRuntime();
            return;
        }
        switch (CommandOf(line))
        {
            case "go":
                _go.Set();
                break;
            case "warm":
                _warm.Set();
                break;
            case "usage":
                Emit(new UsageEvent(ReadUsage()), EventJson.Default.UsageEvent);
                break;
            default:
                Console.Error.WriteLine(
                    $"{RuntimeFacts.ProgramName}: the line {line} is no command; use go, warm, runtime or usage, see docs/peer-protocol.md");
                break;
        }
    }

    // By hand and not by the serializer, of which the runtime would compile a dozen methods anew for some forty answers: the question would be the
    // cause of what is asked.
    private void EmitRuntime()
    {
        var count = RuntimeFacts.CompiledMethodsTold;
        var line = Encoding.ASCII.GetBytes("{\"event\":\"runtime\",\"compiled_methods\":"
            + (count is { } known ? known.ToString(CultureInfo.InvariantCulture) : "null") + "}\n");
        lock (_writing)
        {
            _output.Write(line, 0, line.Length);
            _output.Flush();
        }
    }

    private Usage ReadUsage()
    {
        var memory = Memory.Read();
        var counters = Counters.ReadAsBystander(bytesLeftOut: 0);
        // The service may have been ending while the counters were read; then it says so by now.
        Thread.Sleep(s_moment);
        if (_isLeavingOut)
        {
            _leftOut.WaitOne();
            counters = Counters.ReadAsBystander(_bytesLeftOut);
        }
        return counters.With(memory);
    }

    private static string? CommandOf(string line)
    {
        try
        {
            using var document = JsonDocument.Parse(line);
            return document.RootElement.GetProperty("command").GetString();
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or KeyNotFoundException)
        {
            return null;
        }
    }
}
