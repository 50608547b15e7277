using Ipc.Wcf;

namespace Ipc.Peer;

/// <summary>Transports of kind "call": here those of WCF.</summary>
internal static class CallTransports
{
    public static bool Play(Cell cell) => cell.TransportKind == "call";

    public static IpcChannel Connect(Cell cell, int timeoutMilliseconds) => new WcfClientChannel(CallClient.Connect(cell.Address!, timeoutMilliseconds));

    public static void Serve(Cell cell, Control control, Func<IpcChannel, Service> prepare) => WcfServing.Run(cell, control, prepare);

    public static string Library() =>
        $"Ipc.Wcf {typeof(CallServer).Assembly.GetName().Version?.ToString(3)}, System.ServiceModel "
            + $"{typeof(System.ServiceModel.ServiceHost).Assembly.GetName().Version}";
}
