namespace Ipc.Peer;

internal sealed partial class Control
{
    // SIGINT only: the older runtimes have no way to be told of SIGTERM, which then ends the process where it is.
    private void EndOnSignals() => Console.CancelKeyPress += (_, signal) =>
    {
        signal.Cancel = true;
        End();
    };
}
