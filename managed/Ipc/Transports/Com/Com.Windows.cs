using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`com`: calls to an object in the running object table, late bound; nothing is registered with the system.</summary>
[SupportedOSPlatform("windows")]
internal sealed class ComTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsWindows())
            TransportTable.Add("com", new ComTransport());
    }

    public static bool IsSingleThreaded(IpcAddress address) => address.Option("apartment") == "sta";

    /// <summary>A thread for the apartment the address asks for: the runtime has put its threads into the other one.</summary>
    public static Thread StartThread(Action run, bool singleThreaded, string name)
    {
        var thread = new Thread(() => run()) { IsBackground = true, Name = name };
        thread.SetApartmentState(singleThreaded ? ApartmentState.STA : ApartmentState.MTA);
        thread.Start();
        return thread;
    }

    public override IpcListener Listen(IpcAddress address)
    {
        PlainName.Check(address);
        return new ComListener(address);
    }

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        PlainName.Check(address);
        return new CallClientChannel(new ComClient(address, new Deadline(timeoutMilliseconds)), address);
    }
}
