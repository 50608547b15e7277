using System.Runtime.InteropServices;

namespace Ipc.Lab.Running;

/// <summary>Turns Ctrl-C and SIGTERM into a request to stop in order, for as long as it lives; a second one ends everything at once.</summary>
internal sealed partial class Interruption : IDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly List<PosixSignalRegistration> _registrations = [];
    private int _signals;

    public Interruption()
    {
        foreach (var signal in (PosixSignal[])[PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP])
            _registrations.Add(PosixSignalRegistration.Create(signal, Handle));
    }

    public CancellationToken Stop => _source.Token;

    public void Dispose()
    {
        _registrations.ForEach(r => r.Dispose());
        _source.Dispose();
    }

    private void Handle(PosixSignalContext context)
    {
        context.Cancel = true;
        switch (Interlocked.Increment(ref _signals))
        {
            case 1:
                _source.Cancel();
                break;
            case 2:
                EndAtOnce();
                break;
        }
    }

    // What was measured is in the results folder already; the peers are in groups of their own, where the signal does not reach them.
    private static void EndAtOnce()
    {
        ChildProcess.KillAll();
        LeftoverNames.RemoveOfPresentLaunch();
        Console.Error.WriteLine("ended at once");
        // Not Environment.Exit: whatever the other threads are at, they are not to be waited for, nor to meet a runtime that is being taken down.
        if (OperatingSystem.IsLinux())
            ExitNow(ExitCodes.Interrupted);
        Environment.Exit(ExitCodes.Interrupted);
    }

    [LibraryImport("libc", EntryPoint = "_exit")]
    private static partial void ExitNow(int code);
}
