namespace Ipc;

/// <summary>A readiness whose operation others take from where it is named, to wake it.</summary>
internal abstract class NamedReadiness : Readiness
{
    protected WaitingOperation Waiting { get; } = new();

    public sealed override bool Arm(ChannelOperation operation)
    {
        var channel = (FramedChannel)operation.Channel;
        if (!channel.TryEnterBeside())
            return true;
        try
        {
            // Named before it is looked at what it waits for: whatever comes later finds it.
            Waiting.Set(operation);
            return Watch(operation);
        }
        finally
        {
            channel.LeaveBeside();
        }
    }

    public override void Disarm(ChannelOperation operation) => Waiting.Take();

    /// <summary>Sees to it that the operation is taken and woken, by who keeps what the channel owns from being given back. True: what it waits for may have
    /// come before.</summary>
    protected abstract bool Watch(ChannelOperation operation);
}
