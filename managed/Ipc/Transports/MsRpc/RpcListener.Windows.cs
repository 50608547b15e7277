using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One name: its handshake section, and the clients that came through it. Twin of native/src/msrpc/listener_win32.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed class RpcListener : CallListener
{
    private readonly IpcAddress _address;
    private Win32Handle? _place;

    private RpcListener(IpcAddress address, RpcHandshake handshake) : base(address.ToString())
    {
        _address = address;
        Handshake = handshake;
    }

    public RpcHandshake Handshake { get; }

    public static RpcListener Open(IpcAddress address, RpcSequence sequence)
    {
        var listener = new RpcListener(address, RpcHandshake.New(RpcRuntime.Endpoint(sequence)));
        // Clients may come as soon as the place is there.
        RpcRuntime.Add(listener);
        try
        {
            listener._place = listener.Handshake.MakePlace(address, sequence);
            return listener;
        }
        catch
        {
            RpcRuntime.Remove(listener);
            throw;
        }
    }

    /// <summary>A new client, which has shown the proof; its session, or null with the reason for which it is refused.</summary>
    public CallSession? Welcome(out IpcStatus refused)
    {
        var session = new CallSession(_address);
        refused = Admit(session);
        return refused == IpcStatus.Ok ? session : null;
    }

    // The name first, so that who looks for it now finds nobody; then who has found it before.
    protected override void StopListening()
    {
        _place?.Dispose();
        RpcRuntime.Remove(this);
    }
}
