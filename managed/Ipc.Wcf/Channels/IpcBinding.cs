using System.ServiceModel.Channels;

namespace Ipc.Wcf;

/// <summary>A WCF binding over the channels of this library: endpoints such as <c>ipc://shm/prices</c> or <c>ipc://pipe/prices</c>, binary encoding,
/// sessions, request and reply, one-way and callback contracts. Only processes of the same user can connect, which is checked.</summary>
/// <remarks>Instances may be shared by services and clients; change properties before the first use.</remarks>
public sealed class IpcBinding : Binding
{
    private readonly IpcTransportBindingElement _transport = new();

    /// <inheritdoc/>
    public override string Scheme => IpcUri.Scheme;

    /// <summary>The longest message in bytes, both ways; 64 MiB unless set. Option <c>max=</c> of the address bounds it as well.</summary>
    public long MaxReceivedMessageSize
    {
        get => _transport.MaxReceivedMessageSize;
        set => _transport.MaxReceivedMessageSize = value;
    }

    /// <inheritdoc cref="IpcTransportBindingElement.SessionEnded"/>
    public event EventHandler? SessionEnded
    {
        add => _transport.SessionEnded += value;
        remove => _transport.SessionEnded -= value;
    }

    /// <inheritdoc/>
    public override BindingElementCollection CreateBindingElements()
    {
        var encoding = new BinaryMessageEncodingBindingElement();
        // One limit is enough: that of the message. The defaults stop at 16384 bytes of an array, which no caller is told.
        var quotas = encoding.ReaderQuotas;
        (quotas.MaxArrayLength, quotas.MaxBytesPerRead, quotas.MaxDepth, quotas.MaxNameTableCharCount, quotas.MaxStringContentLength) =
            (int.MaxValue, int.MaxValue, 64, int.MaxValue, int.MaxValue);
        return [encoding, (BindingElement)_transport.Clone()];
    }
}
