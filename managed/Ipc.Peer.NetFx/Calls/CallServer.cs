using System.Net;
using System.Net.Sockets;
using System.ServiceModel;
using Ipc.Wcf;

namespace Ipc.Peer;

/// <summary>A service of <see cref="ICalls"/> or <see cref="IStreamedCalls"/> at an address of transport `wcf` or `wcf-ipc`.</summary>
/// <remarks>Handlers are called by WCF's threads, one at a time. What they throw reaches the client as a fault with the message.</remarks>
internal sealed class CallServer : IDisposable
{
    private const int MostPortsTried = 5;

    private readonly ServiceHost _host;

    private CallServer(ServiceHost host, string address) => (_host, Address) = (host, address);

    /// <summary>Where clients find it: with the port, where it has one.</summary>
    public string Address { get; }

    /// <summary>Listens.</summary>
    /// <param name="address">Such as <c>wcf-ipc://prices?over=pipe</c>.</param>
    /// <param name="call">Answers a call.</param>
    /// <param name="push">Takes a message.</param>
    /// <param name="left">The client has said that this was all.</param>
    /// <param name="lost">A client's session has ended without that; may come after `left` as well, and from any thread.</param>
    public static CallServer Open(string address, Func<byte[], byte[]> call, Action<byte[]> push, Action left, Action lost)
    {
        for (var attempt = 1; ; attempt++)
        {
            var placed = WithPort(address);
            var host = MakeHost(WcfPlace.Of(placed), call, push, left, lost);
            try
            {
                host.Open();
                return new CallServer(host, placed);
            }
            catch (AddressAlreadyInUseException) when (attempt < MostPortsTried && placed != address)
            {
                host.Abort(); // somebody was given the free port meanwhile: another
            }
            catch
            {
                host.Abort();
                throw;
            }
        }
    }

    /// <summary>Ends the service; calls that are under way fail at their clients.</summary>
    public void Dispose()
    {
        try
        {
            // Not at once by Abort: Mono's listening thread would then trip over what it has disposed.
            _host.Close(TimeSpan.FromSeconds(1));
        }
        catch (Exception e) when (e is CommunicationException or TimeoutException or InvalidOperationException)
        {
            _host.Abort();
        }
    }

    private static ServiceHost MakeHost(WcfPlace place, Func<byte[], byte[]> handler, Action<byte[]> push, Action left, Action lost)
    {
        byte[] call(byte[] request)
        {
            var reply = handler(request);
            place.CheckBody(reply.Length);
            return reply;
        }
        if (place.Binding is IpcBinding ours)
            ours.SessionEnded += (_, _) => lost();
        object service = place.IsStreamed ? new StreamedService(call, push, left) : new Service(call, push, left, lost);
        var host = new ServiceHost(service);
        host.AddServiceEndpoint(place.IsStreamed ? typeof(IStreamedCalls) : typeof(ICalls), place.Binding, place.Uri);
        return host;
    }

    // NetTcp listens at a port; 0 lets the system choose, and the address then says which.
    private static string WithPort(string address)
    {
        var parsed = Ipc.IpcAddress.Parse(address);
        if (parsed.Transport != "wcf" || !parsed.Option("binding").StartsWith("nettcp", StringComparison.Ordinal) || parsed.OptionCount("port") != 0)
            return address;
        var probe = new TcpListener(IPAddress.Loopback, 0);
        probe.Start();
        var port = ((IPEndPoint)probe.LocalEndpoint).Port;
        probe.Stop();
        return FormattableString.Invariant($"{address}{(address.Contains('?') ? '&' : '?')}port={port}");
    }

    [ServiceBehavior(InstanceContextMode = InstanceContextMode.Single, ConcurrencyMode = ConcurrencyMode.Single, IncludeExceptionDetailInFaults = true)]
    private sealed class Service(Func<byte[], byte[]> call, Action<byte[]> push, Action left, Action lost) : ICalls
    {
        private IContextChannel? _client;

        public byte[] Call(byte[] request)
        {
            Watch();
            return Faults.Wrap(() => call(request));
        }

        public void Push(byte[] message)
        {
            Watch();
            Faults.Wrap(() => push(message));
        }

        public void Leave() => left();

        // A session ends by closing or, when its client dies, by closing or a fault, as the binding has it.
        private void Watch()
        {
            var client = OperationContext.Current.Channel;
            if (ReferenceEquals(client, _client))
                return;
            _client = client;
            client.Closed += (_, _) => lost();
            client.Faulted += (_, _) => lost();
        }
    }

    [ServiceBehavior(InstanceContextMode = InstanceContextMode.Single, ConcurrencyMode = ConcurrencyMode.Single, IncludeExceptionDetailInFaults = true)]
    private sealed class StreamedService(Func<byte[], byte[]> call, Action<byte[]> push, Action left) : IStreamedCalls
    {
        public Stream Call(Stream request) => Faults.Wrap(() => new MemoryStream(call(Streams.ReadAll(request))));
        public void Push(Stream message) => Faults.Wrap(() => push(Streams.ReadAll(message)));
        public void Leave() => left();
    }

    private static class Faults
    {
        public static T Wrap<T>(Func<T> handler)
        {
            try
            {
                return handler();
            }
            catch (Exception e) when (e is not FaultException)
            {
                throw new FaultException(e.Message);
            }
        }

        public static void Wrap(Action handler) => Wrap(() =>
        {
            handler();
            return true;
        });
    }
}

/// <summary>Whole streams.</summary>
internal static class Streams
{
    public static byte[] ReadAll(Stream stream)
    {
        using var all = new MemoryStream();
        stream.CopyTo(all);
        return all.ToArray();
    }
}
