namespace Ipc.Peer;

/// <summary>Transports of kind "call": none that .NET 10 has.</summary>
internal static class CallTransports
{
    public static Channel Connect(Cell cell, int timeoutMilliseconds) => throw None(cell);

    public static void Serve(Cell cell, Control control, Func<Channel, Service> prepare) => throw None(cell);

    public static string Library() => "none";

    private static IpcException None(Cell cell) =>
        new(Status.NotAvailable, Registry.WhyNotAvailable(Registry.Transport(cell.Address!.Split("://")[0]).Id, cell.Side));
}
