using System.ServiceModel;
using System.ServiceModel.Channels;

namespace Ipc.Wcf;

/// <summary>Makes a client's channels.</summary>
internal sealed class IpcChannelFactory(BindingContext context, MessageEncoder encoder, long limit)
    : ChannelFactoryBase<IDuplexSessionChannel>(context.Binding)
{
    protected override IDuplexSessionChannel OnCreateChannel(EndpointAddress address, Uri via) =>
        new IpcSessionChannel(this, encoder, limit, address, via, connected: null);

    public override T GetProperty<T>() => typeof(T) == typeof(MessageVersion) ? (T)(object)encoder.MessageVersion : base.GetProperty<T>();

    protected override void OnOpen(TimeSpan timeout)
    {
    }

    protected override IAsyncResult OnBeginOpen(TimeSpan timeout, AsyncCallback callback, object state) => Later.Now(() => OnOpen(timeout), callback, state);

    protected override void OnEndOpen(IAsyncResult result) => Later.End<bool>(result);
}
