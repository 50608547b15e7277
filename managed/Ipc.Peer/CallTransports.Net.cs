namespace Ipc.Peer;

/// <summary>Transports that are played by other means than the library (WCF on runtime netfx); on .NET 10 there are none.</summary>
internal static class CallTransports
{
    public static bool Play(Cell cell) => false;

    public static IpcChannel Connect(Cell cell, int timeoutMilliseconds) => Sides.Connect(cell, timeoutMilliseconds);

    public static void Serve(Cell cell, Control control, Func<IpcChannel, Service> prepare) => Server.Run(cell, control, prepare);

    public static string Library() => "none";
}
