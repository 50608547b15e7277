using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using static Ipc.Win32Messages;

namespace Ipc;

/// <summary>`wm-copydata`: calls by WM_COPYDATA between message-only windows. Clients find the listener's window by its class and title.</summary>
[SupportedOSPlatform("windows")]
internal sealed class WmCopyDataTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsWindows())
            TransportTable.Add("wm-copydata", new WmCopyDataTransport());
    }

    public override IpcListener Listen(IpcAddress address)
    {
        PlainName.Check(address);
        return new WmCopyDataListener(address);
    }

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        PlainName.Check(address);
        return new CallClientChannel(new WmCopyDataClient(address, address.Name, new Deadline(timeoutMilliseconds)), address);
    }
}

/// <summary>A window that clients find, and whose thread makes a session for each.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class WmCopyDataListener : CallListener
{
    private readonly IpcAddress _address;
    private readonly NameClaim _claim;
    private readonly Thread _thread;
    private nint _window;
    private IpcException? _failure;
    private volatile bool _closing;

    public WmCopyDataListener(IpcAddress address) : base(address.ToString())
    {
        _address = address;
        // A window's title can be taken several times.
        _claim = new NameClaim(address);
        using var opened = new ManualResetEventSlim();
        _thread = new Thread(() => Run(opened)) { IsBackground = true, Name = "ipc wm-copydata listener" };
        _thread.Start();
        opened.Wait();
        if (_failure is null)
            return;
        _claim.Dispose();
        throw _failure;
    }

    private void Run(ManualResetEventSlim opened)
    {
        var self = GCHandle.Alloc(this);
        try
        {
            _window = MessageWindow.Make(MessageWindow.ListenerClass, &Procedure, _address.Name, self);
        }
        catch (IpcException e)
        {
            _failure = e;
        }
        finally
        {
            opened.Set();
        }
        Message message;
        while (_window != 0 && !_closing)
        {
            _ = GetMessageW(&message, 0, 0, 0);
            if (!_closing)
                _ = DispatchMessageW(&message);
        }
        SetWindowLongPtrW(_window, GWLP_USERDATA, 0);
        _ = DestroyWindow(_window);
        self.Free();
    }

    [UnmanagedCallersOnly]
    private static nint Procedure(nint window, uint message, nint from, nint copied)
    {
        // Its making and unmaking; in between nothing that others send or post may change or end it.
        if (MessageWindow.Self<WmCopyDataListener>(window) is not { } self)
            return DefWindowProcW(window, message, from, copied);
        return message == WM_COPYDATA ? self.Welcome(from, copied) : 0;
    }

    // The window of a new session; 0 for whoever is no client of this user's.
    private nint Welcome(nint from, nint copied)
    {
        if (!MessageFragment.TryRead(copied, out var fragment) || fragment.Head.Kind != MessageHead.Hello || fragment.Head.Length != 0)
            return 0;
        var process = MessageWindow.ProcessOf(from);
        try
        {
            var client = new PeerProcess(process, _address);
            var session = new CallSession(_address);
            var window = WmCopyDataSession.Start(session, fragment.Head.Token, client, process);
            if (window != 0 && Admit(session) == IpcStatus.Ok)
                return window;
            session.Close();
        }
        catch (IpcException)
        {
            // Refused.
        }
        return 0;
    }

    protected override void StopListening()
    {
        _closing = true;
        _ = PostMessageW(_window, WM_NULL, 0, 0);
        _thread.Join();
        _claim.Dispose();
    }
}
