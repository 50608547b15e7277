using System.Runtime.InteropServices;

namespace Ipc.Lab.Running;

/// <summary>Turns Ctrl-C and SIGTERM into a request to stop in order, for as long as it lives.</summary>
internal sealed class Interruption : IDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly List<PosixSignalRegistration> _registrations = [];

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
        _source.Cancel();
    }
}
