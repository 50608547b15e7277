using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`mailslot`: frames over two mailslots and their acknowledgements. Clients find the listener through a mailslot of its own.</summary>
[SupportedOSPlatform("windows")]
internal sealed class MailslotTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsWindows())
            TransportTable.Add("mailslot", new MailslotTransport());
    }

    public override IpcListener Listen(IpcAddress address) => new MailslotListener(address);

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds) =>
        new StreamChannel(MailslotHandshake.MeetServer(address, new Deadline(timeoutMilliseconds)), address);
}

/// <summary>Reads the hellos of clients and meets them.</summary>
[SupportedOSPlatform("windows")]
internal sealed class MailslotListener : IpcListener
{
    private readonly IpcAddress _address;
    private readonly Slot _handshake;
    private readonly ManualResetEvent _closing = new(false);
    private readonly object _reading = new(); // one thread reads the mailslot at a time, for a slice
    private int _closeStarted;
    private volatile bool _closed;

    public MailslotListener(IpcAddress address)
    {
        _address = address;
        _handshake = new Slot(MailslotHandshake.NameOf(address), MailslotWire.HandshakeLength, out var error);
        if (error == 0)
            return;
        _handshake.Dispose();
        throw error is Win32Mailslots.ERROR_ALREADY_EXISTS or Win32Mailslots.ERROR_ACCESS_DENIED
            ? new IpcException(IpcStatus.NameInUse, $"cannot listen at {address}: another listener has this name; close it or choose another name")
            : Slot.Failure($"cannot listen at {address}", error);
    }

    public override string Address => _address.ToString();

    public override IpcChannel Accept(int timeoutMilliseconds)
    {
        if (timeoutMilliseconds < Timeout.Infinite)
            throw Deadline.NotATimeout(timeoutMilliseconds);
        var deadline = new Deadline(timeoutMilliseconds);
        Span<byte> hello = stackalloc byte[MailslotWire.HandshakeLength + 1];
        while (true)
        {
            var length = NextHello(hello, deadline);
            if (_closed)
                throw new IpcException(IpcStatus.Closed, $"the listener at {Address} was closed here");
            if (length >= 0 && MailslotHandshake.MeetClient(_address, hello[..length], _closing) is { } stream)
                return new StreamChannel(stream, _address);
            if (length < 0 && deadline.Expired)
                throw new IpcException(IpcStatus.TimedOut, $"no client came to {Address} within the time-out");
        }
    }

    // A message that came to the handshake; negative when none came for a slice.
    private int NextHello(Span<byte> room, Deadline deadline)
    {
        var patience = deadline.SliceMilliseconds(Slot.SliceMilliseconds);
        if (!Monitor.TryEnter(_reading, patience))
            return Slot.TimedOut;
        try
        {
            return _closed ? Slot.Interrupted : _handshake.Receive(room, patience, _closing);
        }
        finally
        {
            Monitor.Exit(_reading);
        }
    }

    public override void Close()
    {
        if (Interlocked.Exchange(ref _closeStarted, 1) != 0)
            return;
        _closed = true;
        _closing.Set();
        lock (_reading)
            _handshake.Dispose();
    }

    protected override void Dispose(bool disposing)
    {
        if (!disposing)
            return;
        Close();
        _closing.Dispose();
    }
}
