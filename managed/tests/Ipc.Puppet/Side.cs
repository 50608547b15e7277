using System.Runtime.CompilerServices;
using Ipc.Native;

namespace Ipc.Puppet;

/// <summary>The two ways a .NET process opens channels. Each stands in a method of its own that is never inlined, so that
/// a managed puppet never so much as loads the assembly of the bound side.</summary>
internal sealed class Side
{
    private readonly bool _bound;

    public Side(string id) => _bound = id switch
    {
        "bound" or "bound-netfx" => true,
        "managed" or "managed-netfx" => false,
        _ => throw new WrongException($"there is no side '{id}' here: use --side managed or --side bound"),
    };

    public Listener Listen(string address) => _bound ? ListenBound(address) : ManagedIpc.Listen(address);

    public Channel Connect(string address, int timeout) =>
        _bound ? ConnectBound(address, timeout) : ManagedIpc.Connect(address, timeout);

    public MessageQueue OpenQueue(string address, int timeout) =>
        _bound ? OpenBoundQueue(address, timeout) : ManagedIpc.OpenQueue(address, timeout);

    public void RemoveQueue(string address)
    {
        if (_bound)
            RemoveBoundQueue(address);
        else
            ManagedIpc.RemoveQueue(address);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static MessageQueue OpenBoundQueue(string address, int timeout) => NativeIpc.OpenQueue(address, timeout);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RemoveBoundQueue(string address) => NativeIpc.RemoveQueue(address);

    public Publisher Publish(string address) => _bound ? PublishBound(address) : ManagedIpc.Publish(address);

    public Subscriber Subscribe(string address, int timeout) =>
        _bound ? SubscribeBound(address, timeout) : ManagedIpc.Subscribe(address, timeout);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Listener ListenBound(string address) => NativeIpc.Listen(address);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Channel ConnectBound(string address, int timeout) => NativeIpc.Connect(address, timeout);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Publisher PublishBound(string address) => NativeIpc.Publish(address);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Subscriber SubscribeBound(string address, int timeout) => NativeIpc.Subscribe(address, timeout);
}
