using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;

namespace Ipc.Conformance.Puppets;

/// <summary>One puppet process (native/tests/puppet/README.md) and the session with it. Any thread may use it.</summary>
internal sealed class PuppetProcess : IDisposable
{
    private const int LinesKept = 40;
    private static readonly TimeSpan s_longestAnswer = TimeSpan.FromSeconds(30);

    private readonly Process _process;
    private readonly uint? _user;
    private string? _descriptorsAtStart;
    private readonly ConcurrentDictionary<string, ConcurrentQueue<TaskCompletionSource<string>>> _awaited = new();
    private readonly Queue<string> _transcript = new();
    private readonly Stopwatch _age = Stopwatch.StartNew();
    private volatile bool _isDead;

    /// <summary>Starts one; <paramref name="user"/> is another user to run it as, which only root may ask for, <paramref name="copy"/> where a copy of the
    /// program lies.</summary>
    public PuppetProcess(string side, IReadOnlyDictionary<string, string>? environment = null, uint? user = null, string? copy = null)
    {
        (Side, _user) = (side, user);
        var start = PuppetProgram.Of(side, copy);
        if (user is { } other)
        {
            string[] command = [.. SecondUser.Prefix(other), start.FileName];
            for (var i = command.Length - 1; i > 0; i--)
                start.ArgumentList.Insert(0, command[i]);
            start.FileName = command[0];
        }
        (start.RedirectStandardInput, start.RedirectStandardOutput, start.RedirectStandardError) = (true, true, true);
        foreach (var (name, value) in environment ?? new Dictionary<string, string>())
            start.Environment[name] = value;
        _process = Process.Start(start)!;
        Name = $"{side} puppet {_process.Id.ToString(CultureInfo.InvariantCulture)}";
        // Taken here: once the process object is disposed, which may be before the reader is scheduled again, it gives no output any more.
        var output = _process.StandardOutput;
        new Thread(() => ReadAnswers(output)) { IsBackground = true, Name = Name }.Start();
        _process.ErrorDataReceived += (_, line) => Keep("stderr", line.Data);
        _process.BeginErrorReadLine();
    }

    public string Side { get; }
    public string Name { get; }
    public int ProcessId => _process.Id;
    public bool IsDead => _isDead;

    /// <summary>The last lines exchanged and all it wrote to standard error lately.</summary>
    public string Transcript
    {
        get
        {
            lock (_transcript)
                return $"{Name}{(IsDead ? " (ended)" : "")}:\n  {string.Join("\n  ", _transcript)}";
        }
    }

    /// <summary>Gives a worker a command; the answer comes when the worker has carried it out.</summary>
    public async Task<Answer> Give(string worker, string command, TimeSpan? atMost = null)
    {
        var longest = atMost ?? s_longestAnswer;
        var answered = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        var clock = Stopwatch.StartNew();
        lock (_process)
        {
            _awaited.GetOrAdd(worker, _ => new()).Enqueue(answered);
            Keep(">", $"{worker} {command}");
            WriteLine($"{worker} {command}");
        }
        try
        {
            return Answer.Parse(this, command, await answered.Task.WaitAsync(longest), clock.Elapsed);
        }
        catch (TimeoutException)
        {
            throw new ConformanceException($"{Name}: '{command}' was not answered within {longest.TotalSeconds} s");
        }
    }

    /// <summary>Gives a worker a command that blocks, and returns, with its answer to come, once the worker is seen to wait in it.
    /// <paramref name="maySpin"/>: waiting may be spinning, too.</summary>
    public async Task<Task<Answer>> GiveBlocking(string worker, string command, bool maySpin = false)
    {
        if (!PuppetSystem.ShowsThreads)
        {
            var blind = Give(worker, command);
            await Task.Delay(30); // Windows tells nobody what a thread does
            return blind;
        }
        _ = await Give(worker, "nothing"); // there is no such command, but now there is its thread
        var thread = WorkerThread.Of(this, worker);
        var idle = await thread.Asleep();
        var call = Give(worker, command);
        await thread.Waits(idle, maySpin, unless: call);
        return call;
    }

    /// <summary>A command for the main worker that must succeed; returns its text.</summary>
    public async Task<string> Ok(string command) => (await Give("main", command)).Ok();

    /// <summary>A command for the main worker that must succeed with this text.</summary>
    public async Task Ok(string command, object text) => (await Give("main", command)).Ok(text);

    /// <summary>A command for the main worker that the library must refuse so.</summary>
    public async Task<Answer> Refuses(IpcStatus status, string command) => (await Give("main", command)).Refused(status);

    /// <summary>SIGKILL, and waits until the process is gone.</summary>
    public void Kill()
    {
        Keep(">", "(killed)");
        _process.Kill();
        // With a time-out: without one it also waits for the end of the puppet's standard error, which under Wine its system's own
        // processes hold when this puppet was the first to run and so started them.
        if (!_process.WaitForExit(s_longestAnswer))
            throw new ConformanceException($"{Name} is still there {s_longestAnswer.TotalSeconds} s after it was killed");
        // The reading thread says so too, when it comes to its end; whoever asks before must not take this puppet for a living one.
        _isDead = true;
    }

    /// <summary>Sets one of its limits, by the option of prlimit(1), as in "--nofile=3:".</summary>
    public void Limit(string option)
    {
        // As its own user, who may.
        var process = ProcessId.ToString(CultureInfo.InvariantCulture);
        string[] command = [.. _user is { } other ? SecondUser.Prefix(other) : [], "prlimit", "--pid", process, option];
        using var limiting = Process.Start(command[0], command[1..]);
        limiting.WaitForExit();
        if (limiting.ExitCode != 0)
            throw new ConformanceException($"prlimit {option} failed for {Name}");
    }

    /// <summary>How many descriptors it may have open; null: as many as at its start.</summary>
    public void LimitDescriptors(int? most)
    {
        const string Name = "Max open files";
        _descriptorsAtStart ??= File.ReadLines($"/proc/{ProcessId}/limits").First(line => line.StartsWith(Name, StringComparison.Ordinal))[Name.Length..]
            .Split(' ', StringSplitOptions.RemoveEmptyEntries)[0];
        Limit($"--nofile={most?.ToString(CultureInfo.InvariantCulture) ?? _descriptorsAtStart}:");
    }

    /// <summary>How many descriptors the process has open.</summary>
    public int Descriptors => Directory.GetFileSystemEntries($"/proc/{ProcessId}/fd").Length;

    /// <summary>The files and memory the process has mapped.</summary>
    public string Mappings => File.ReadAllText($"/proc/{ProcessId}/maps");

    public void Dispose()
    {
        if (!_process.HasExited)
            Kill();
        _process.Dispose();
    }

    private void WriteLine(string line)
    {
        try
        {
            _process.StandardInput.WriteLine(line);
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            // It has ended: ReadAnswers tells whoever waits.
        }
        if (IsDead)
            FailAll();
    }

    private void ReadAnswers(StreamReader output)
    {
        while (output.ReadLine() is { } line)
        {
            Keep("<", line);
            var space = line.IndexOf(' ', StringComparison.Ordinal);
            if (space > 0 && _awaited.TryGetValue(line[..space], out var queue) && queue.TryDequeue(out var answered))
                answered.SetResult(line[(space + 1)..]);
        }
        _isDead = true;
        FailAll();
    }

    private void FailAll()
    {
        foreach (var queue in _awaited.Values)
        {
            while (queue.TryDequeue(out var answered))
                answered.TrySetException(new ConformanceException($"{Name} ended"));
        }
    }

    private void Keep(string mark, string? line)
    {
        if (line is null)
            return;
        lock (_transcript)
        {
            _transcript.Enqueue($"{_age.Elapsed.TotalMilliseconds,7:F0} {mark} {line}");
            if (_transcript.Count > LinesKept)
                _transcript.Dequeue();
        }
    }
}
