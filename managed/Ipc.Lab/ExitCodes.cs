namespace Ipc.Lab;

/// <summary>What the command's exit code says to a script.</summary>
internal static class ExitCodes
{
    public const int Success = 0;
    /// <summary>A cell or the floors failed, or a measurement is impossible on this machine.</summary>
    public const int Failed = 1;
    /// <summary>The command line or a file it names is wrong; nothing was started.</summary>
    public const int UserMistake = 2;
    /// <summary>Stopped by Ctrl-C or SIGTERM; what was measured is kept.</summary>
    public const int Interrupted = 130;
}
