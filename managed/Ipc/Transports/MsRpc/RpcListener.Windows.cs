using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One name: its meeting place, and the clients that came through it. Twin of native/src/msrpc/listener_win32.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed class RpcListener : CallListener
{
    private readonly Address _address;
    private Win32Handle? _place;

    private RpcListener(Address address, RpcMeeting meeting) : base(address.ToString())
    {
        _address = address;
        Meeting = meeting;
    }

    public RpcMeeting Meeting { get; }

    public static RpcListener Open(Address address, RpcSequence sequence)
    {
        var listener = new RpcListener(address, RpcMeeting.New(RpcRuntime.Endpoint(sequence)));
        // Clients may come as soon as the place is there.
        RpcRuntime.Add(listener);
        try
        {
            listener._place = listener.Meeting.MakePlace(address, sequence);
            return listener;
        }
        catch
        {
            RpcRuntime.Remove(listener);
            throw;
        }
    }

    /// <summary>A new client, which has shown the proof; its session, or null with the reason for which it is refused.</summary>
    public CallSession? Welcome(out Status refused)
    {
        var session = new CallSession(_address);
        refused = Admit(session);
        return refused == Status.Ok ? session : null;
    }

    // The name first, so that who looks for it now finds nobody; then who has found it before.
    protected override void StopListening()
    {
        _place?.Dispose();
        RpcRuntime.Remove(this);
    }
}
