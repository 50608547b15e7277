using Ipc.Lab.Planning;
using Ipc.Lab.Running;

namespace Ipc.Lab.Reporting;

/// <summary>Tells how a run goes on standard error: one line rewritten on a terminal, a plain line now and then elsewhere.</summary>
/// <remarks>It writes only when told to, between launches; a timer of its own would run beside the measurement.</remarks>
internal sealed class ProgressReport(TextWriter output, bool isTerminal, Func<int> width) : IRunWatcher
{
    private static readonly TimeSpan s_betweenLines = TimeSpan.FromSeconds(15);

    private readonly System.Diagnostics.Stopwatch _sinceLine = System.Diagnostics.Stopwatch.StartNew();
    private int _round;
    private int _rounds;
    private bool _lineIsOpen;

    public static ProgressReport ForThisConsole() =>
        new(Console.Error, !Console.IsErrorRedirected && Environment.GetEnvironmentVariable("TERM") != "dumb", () => Console.WindowWidth);

    public void RoundStarts(int round, int rounds)
    {
        (_round, _rounds) = (round + 1, rounds);
        Line($"round {_round} of {_rounds}");
    }

    public void LaunchStarts(Cell cell, int done, int total, TimeSpan left)
    {
        if (isTerminal)
            Rewrite($"round {_round}/{_rounds} {done + 1}/{total}, {Units.Duration(left)} left: {cell}");
        else if (_sinceLine.Elapsed > s_betweenLines)
            Line($"round {_round} of {_rounds}: {done} of {total} launches done, {Units.Duration(left)} left");
    }

    public void Failed(string what, string reason) => Line($"failed: {what}: {reason}");

    public void Note(string sentence) => Line(sentence);

    /// <summary>Leaves the terminal on a fresh line.</summary>
    public void Finish()
    {
        if (_lineIsOpen)
            Clear();
    }

    private void Line(string text)
    {
        Finish();
        output.WriteLine(text);
        _sinceLine.Restart();
    }

    private void Rewrite(string text)
    {
        // The last column is left free: filling it makes some terminals wrap.
        var room = Math.Max(10, width() - 1);
        Clear();
        output.Write(text.Length > room ? text[..room] : text);
        output.Flush();
        _lineIsOpen = true;
    }

    private void Clear()
    {
        output.Write("\r\u001b[K");
        _lineIsOpen = false;
    }
}
