using System.ServiceModel.Channels;

namespace Ipc.Wcf;

/// <summary>The transport of <see cref="IpcBinding"/>, for custom bindings: needs a message encoding before it, binary if there is none.</summary>
public sealed class IpcTransportBindingElement : TransportBindingElement
{
    private const long UsualLimit = 64L << 20;

    /// <summary>One that takes messages of up to 64 MiB.</summary>
    public IpcTransportBindingElement() => MaxReceivedMessageSize = UsualLimit;

    private IpcTransportBindingElement(IpcTransportBindingElement other) : base(other) => SessionEnded = other.SessionEnded;

    /// <summary>A client's session with a service has ended: the client closed, or died. Comes within a second, from any thread, also where
    /// the runtime (Mono) does not raise the events of its own channels. To be set before the service is opened.</summary>
    public event EventHandler? SessionEnded;

    /// <inheritdoc/>
    public override string Scheme => IpcUri.Scheme;

    /// <inheritdoc/>
    public override BindingElement Clone() => new IpcTransportBindingElement(this);

    /// <inheritdoc/>
    public override bool CanBuildChannelFactory<TChannel>(BindingContext context) => typeof(TChannel) == typeof(IDuplexSessionChannel);

    /// <inheritdoc/>
    public override bool CanBuildChannelListener<TChannel>(BindingContext context) => typeof(TChannel) == typeof(IDuplexSessionChannel);

    /// <inheritdoc/>
    public override IChannelFactory<TChannel> BuildChannelFactory<TChannel>(BindingContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        Check<TChannel>();
        return (IChannelFactory<TChannel>)(object)new IpcChannelFactory(context, EncoderOf(context), MaxReceivedMessageSize);
    }

    /// <inheritdoc/>
    public override IChannelListener<TChannel> BuildChannelListener<TChannel>(BindingContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        Check<TChannel>();
        return (IChannelListener<TChannel>)(object)new IpcChannelListener(context, EncoderOf(context), MaxReceivedMessageSize, () =>
            SessionEnded?.Invoke(this, EventArgs.Empty));
    }

    private static void Check<TChannel>()
    {
        if (typeof(TChannel) != typeof(IDuplexSessionChannel))
            throw new ArgumentException(
                $"this transport has IDuplexSessionChannel, not {typeof(TChannel).Name}: use a contract with sessions allowed, request and reply or one way");
    }

    private static MessageEncoder EncoderOf(BindingContext context)
    {
        // .NET Framework's encodings leave themselves among the parameters; Mono's stay where they are in the binding.
        var element = context.BindingParameters.Find<MessageEncodingBindingElement>()
            ?? context.Binding.Elements.Find<MessageEncodingBindingElement>()
            ?? new BinaryMessageEncodingBindingElement();
        return element.CreateMessageEncoderFactory().Encoder;
    }
}
