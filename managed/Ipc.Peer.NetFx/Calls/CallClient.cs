using System.ServiceModel;
using System.ServiceModel.Channels;

namespace Ipc.Peer;

/// <summary>Connects to a <see cref="CallServer"/>.</summary>
internal static class CallClient
{
    /// <summary>A client of the service at an address such as <c>wcf-ipc://prices?over=pipe</c>; connected when this returns.</summary>
    /// <param name="address">That the server told.</param>
    /// <param name="timeoutMilliseconds">For connecting.</param>
    public static ICallClient Connect(string address, int timeoutMilliseconds)
    {
        var place = WcfPlace.Of(address);
        place.Binding.OpenTimeout = TimeSpan.FromMilliseconds(timeoutMilliseconds);
        return place.IsStreamed ? new Streamed(place) : new Buffered(place);
    }

    /// <summary>Opens a proxy, or leaves nothing behind.</summary>
    private static TContract Open<TContract>(ChannelFactory<TContract> factory)
    {
        try
        {
            var proxy = factory.CreateChannel();
            ((IClientChannel)proxy!).Open();
            return proxy;
        }
        catch
        {
            factory.Abort();
            throw;
        }
    }

    // Orderly if both ends still are; a broken one is only let go.
    private static void Close(ICommunicationObject proxy, ICommunicationObject factory)
    {
        try
        {
            proxy.Close();
            factory.Close();
        }
        catch (Exception e) when (e is CommunicationException or TimeoutException)
        {
            proxy.Abort();
            factory.Abort();
        }
    }

    private sealed class Buffered : ICallClient
    {
        private readonly WcfPlace _place;
        private readonly ChannelFactory<ICalls> _factory;
        private readonly ICalls _proxy;

        public Buffered(WcfPlace place)
        {
            _place = place;
            _factory = new ChannelFactory<ICalls>(place.Binding, new EndpointAddress(place.Uri));
            _proxy = Open(_factory);
        }

        public byte[] Call(byte[] request)
        {
            _place.CheckBody(request.Length);
            return _proxy.Call(request);
        }

        public void Push(byte[] message)
        {
            _place.CheckBody(message.Length);
            _proxy.Push(message);
        }

        public void Leave() => _proxy.Leave();
        public void Dispose() => Close((ICommunicationObject)_proxy, _factory);
    }

    private sealed class Streamed : ICallClient
    {
        private readonly ChannelFactory<IStreamedCalls> _factory;
        private readonly IStreamedCalls _proxy;

        public Streamed(WcfPlace place)
        {
            _factory = new ChannelFactory<IStreamedCalls>(place.Binding, new EndpointAddress(place.Uri));
            _proxy = Open(_factory);
        }

        public byte[] Call(byte[] request) => Streams.ReadAll(_proxy.Call(new MemoryStream(request)));
        public void Push(byte[] message) => _proxy.Push(new MemoryStream(message));
        public void Leave() => _proxy.Leave();
        public void Dispose() => Close((ICommunicationObject)_proxy, _factory);
    }
}
