using System.Runtime.InteropServices;

namespace Ipc.Peer;

internal sealed partial class Control
{
    private readonly List<PosixSignalRegistration> _signals = [];

    private void EndOnSignals()
    {
        foreach (var signal in (PosixSignal[])[PosixSignal.SIGINT, PosixSignal.SIGTERM])
        {
            _signals.Add(PosixSignalRegistration.Create(signal, context =>
            {
                context.Cancel = true;
                End();
            }));
        }
    }
}
