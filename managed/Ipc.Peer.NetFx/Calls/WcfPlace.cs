using System.ServiceModel;
using System.ServiceModel.Channels;
using Ipc.Wcf;

namespace Ipc.Peer;

/// <summary>An address of transport `wcf` or `wcf-ipc`: which binding, with which settings, and where. docs/wcf.md has the settings in a table.</summary>
internal sealed class WcfPlace
{
    private const string Host = "127.0.0.1";

    // ReaderQuotas.MaxArrayLength unless it is raised.
    private const int UsualArray = 16384;

    private WcfPlace(Binding binding, Uri uri, bool streamed, IpcAddress address) =>
        (Binding, Uri, IsStreamed, Address) = (binding, uri, streamed, address);

    /// <summary>Throws <see cref="IpcStatus.MessageTooLarge"/> if the binding's quotas would not let a body of so many bytes through. WCF itself
    /// refuses it at the receiver only, and the sender waits for its time-out.</summary>
    public void CheckBody(int bytes)
    {
        var most = Address.Transport == "wcf" && Address.Option("binding")
            .EndsWith("-default", StringComparison.Ordinal) ? UsualArray : Address.MaxMessageLength;
        if (bytes <= most)
            return;
        throw new IpcException(IpcStatus.MessageTooLarge, most == UsualArray
            ? $"a body of {bytes} bytes is over the {most} that {Address} lets through (ReaderQuotas.MaxArrayLength, WCF's default): use a tuned "
                + "binding, or send parts"
            : $"a body of {bytes} bytes is over the {most} that {Address} lets through: raise it with max= at both ends, or send parts");
    }

    /// <summary>Made anew for every place.</summary>
    public Binding Binding { get; }
    /// <summary>The endpoint.</summary>
    public Uri Uri { get; }
    /// <summary>Whether the contract is <see cref="IStreamedCalls"/>.</summary>
    public bool IsStreamed { get; }
    /// <summary>The address it was made of.</summary>
    public IpcAddress Address { get; }

    /// <summary>Reads an address. A binding that does not work here is <see cref="IpcStatus.NotAvailable"/>, with the reason.</summary>
    public static WcfPlace Of(string text)
    {
        var address = IpcAddress.Parse(text);
        return address.Transport == "wcf-ipc" ? OverIpc(address) : OverWcf(address);
    }

    private static WcfPlace OverIpc(IpcAddress address)
    {
        var over = address.Option("over");
        var options = over == "shm" ? $"wait={address.Option("wait")}&" : "";
        // WCF wraps a message in a few hundred bytes of its own.
        var limit = Math.Min(address.MaxMessageLength + 64L * 1024, int.MaxValue);
        var uri = IpcUri.FromAddress($"{over}://wcf-{address.Name}?{options}max={Math.Min(limit, 2_000_000_000)}");
        return new WcfPlace(new IpcBinding { MaxReceivedMessageSize = limit }, uri, streamed: false, address);
    }

    private static WcfPlace OverWcf(IpcAddress address)
    {
        var id = address.Option("binding");
        if (Registry.WhyRefused(address) is { } why)
            throw new IpcException(IpcStatus.NotAvailable, why);
        var streamed = id.EndsWith("-streamed", StringComparison.Ordinal);
        return id.StartsWith("nettcp", StringComparison.Ordinal)
            ? new WcfPlace(NetTcp(id, address.MaxMessageLength), new Uri($"net.tcp://{Host}:{address.OptionCount("port")}/ipc-{address.Name}"), streamed,
                address)
            : new WcfPlace(NetNamedPipe(id, address.MaxMessageLength), new Uri($"net.pipe://localhost/ipc-{address.Name}"), streamed, address);
    }

    private static NetTcpBinding NetTcp(string id, int limit)
    {
        if (id == "nettcp-default")
            return new NetTcpBinding();
        var binding = new NetTcpBinding(SecurityMode.None)
        {
            TransferMode = id == "nettcp-streamed" ? TransferMode.Streamed : TransferMode.Buffered,
            MaxReceivedMessageSize = Room(limit),
            MaxBufferPoolSize = Room(limit),
        };
        if (binding.TransferMode == TransferMode.Buffered)
            binding.MaxBufferSize = (int)Room(limit);
        Widen(binding.ReaderQuotas, limit);
        return binding;
    }

    private static NetNamedPipeBinding NetNamedPipe(string id, int limit)
    {
        if (id == "netnamedpipe-default")
            return new NetNamedPipeBinding();
        var binding = new NetNamedPipeBinding(NetNamedPipeSecurityMode.None)
        {
            TransferMode = id == "netnamedpipe-streamed" ? TransferMode.Streamed : TransferMode.Buffered,
            MaxReceivedMessageSize = Room(limit),
            MaxBufferPoolSize = Room(limit),
        };
        if (binding.TransferMode == TransferMode.Buffered)
            binding.MaxBufferSize = (int)Room(limit);
        Widen(binding.ReaderQuotas, limit);
        return binding;
    }

    // The envelope takes a few hundred bytes.
    private static long Room(int limit) => Math.Min(limit + 64L * 1024, int.MaxValue);

    private static void Widen(System.Xml.XmlDictionaryReaderQuotas quotas, int limit) =>
        (quotas.MaxArrayLength, quotas.MaxBytesPerRead, quotas.MaxStringContentLength) = (limit, int.MaxValue, limit);
}
