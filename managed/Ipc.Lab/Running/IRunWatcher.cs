using Ipc.Lab.Planning;

namespace Ipc.Lab.Running;

/// <summary>Is told what a run does, between launches only: while peers measure, the lab itself stays silent.</summary>
internal interface IRunWatcher
{
    /// <summary>A round begins.</summary>
    void RoundStarts(int round, int rounds);
    /// <summary>A launch begins; how many were done before, of how many, and the time left as far as can be told.</summary>
    void LaunchStarts(Cell cell, int done, int total, TimeSpan left);
    /// <summary>A launch or the floors failed.</summary>
    void Failed(string what, string reason);
    /// <summary>Something the user should know, e.g. that a round was left out.</summary>
    void Note(string sentence);
}
