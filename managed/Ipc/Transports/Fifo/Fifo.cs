using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>`fifo`: frames over two FIFOs per connection. Clients find the listener through a third one.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class FifoTransport : Transport
{
    [SuppressMessage("Usage", "CA2255", Justification = "Each room adds itself, so that there is no second list of transports.")]
    [ModuleInitializer]
    internal static void Register()
    {
        if (OperatingSystem.IsLinux())
            TransportTable.Add("fifo", new FifoTransport());
    }

    public override IpcListener Listen(IpcAddress address) => new FifoListener(address, LocalNames.InPrivateFolder(address, "fifo-"));

    public override IpcChannel Connect(IpcAddress address, int timeoutMilliseconds)
    {
        var name = LocalNames.InPrivateFolder(address, "fifo-");
        var deadline = new Deadline(timeoutMilliseconds);
        while (true)
        {
            if (ConnectOnce(name, address, deadline) is { } channel)
                return channel;
            if (deadline.Expired)
                throw AcceptsNoClient(name);
        }
    }

    // Null: the listener is there, but let go of this client before its last step, because too many others wanted theirs.
    private static StreamChannel? ConnectOnce(LocalName name, IpcAddress address, Deadline deadline)
    {
        using var handshakeFifo = OpenHandshakeFifo(name, deadline);
        var (pair, down) = FifoPair.Make(name.Path, deadline);
        Descriptor? up = null;
        try
        {
            using (pair)
                up = Meet(name, handshakeFifo, pair, down, deadline);
            return up is null ? null : new StreamChannel(new FifoStream(down, up, name.Path), address);
        }
        finally
        {
            if (up is null)
                down.Dispose();
        }
    }

    /// <summary>Writes the one byte of a handshake; false when the other side has gone.</summary>
    public static bool WriteGreeting(Descriptor to) => Write(to, [FifoRecord.Greeting]) == 0;

    /// <summary>Reads the one byte of a handshake; null while it is still to come, false when the other side has gone or it is another.</summary>
    /// <remarks>A poll may say that the writer has left in the very moment in which it opens the FIFO, because Linux counts it before it is
    /// there; reading, which takes the FIFO's lock, knows better.</remarks>
    public static bool? ReadGreeting(Descriptor from)
    {
        byte greeting;
        var count = Libc.Read(from, &greeting, 1);
        return count < 0 && (Libc.LastError is Libc.EAGAIN or Libc.EINTR) ? null : count == 1 && greeting == FifoRecord.Greeting;
    }

    // Leaves the record, waits for the server to open both FIFOs, and opens `.up`; null if the server is there and let go.
    private static Descriptor? Meet(LocalName name, Descriptor handshakeFifo, FifoPair pair, Descriptor down, Deadline deadline)
    {
        var record = FifoRecord.Make(pair.Token);
        while (Write(handshakeFifo, record) is var error && error != 0)
        {
            // Full only while very many clients wait.
            if (error != Libc.EAGAIN)
                throw NoServer(name, deadline);
            WaitForServer(name, handshakeFifo, Libc.POLLOUT, handshakeFifo, deadline);
        }
        bool? greeted;
        do
        {
            WaitForServer(name, down, Libc.POLLIN, handshakeFifo, deadline);
            greeted = ReadGreeting(down);
        }
        while (greeted is null);
        var up = greeted is true ? FifoNames.Open(pair.Up, Libc.O_WRONLY, out _) : null;
        if (up is not null && WriteGreeting(up))
            return up;
        up?.Dispose();
        var (_, gone) = Libc.PollTwo(handshakeFifo, 0, handshakeFifo, 0, 0);
        return gone == 0 ? null : throw NoServer(name, deadline);
    }

    private static Descriptor OpenHandshakeFifo(LocalName name, Deadline deadline)
    {
        var error = Libc.EPERM;
        var foreign = Libc.GetStatus(name.Path, out var status) && status.User != Libc.EffectiveUser();
        if (!foreign && FifoNames.Open(name.Path, Libc.O_WRONLY, out error) is { } opened)
            return opened;
        throw error switch
        {
            Libc.ENXIO or Libc.ENOENT => NoServer(name, deadline),
            Libc.EPERM or Libc.EACCES or Libc.ELOOP => new IpcException(IpcStatus.NoPermission,
                $"{name.Path}, where {name.Address} leads, is not a FIFO of this user: choose another name"),
            _ => Libc.Failure(IpcStatus.System, $"cannot connect to {name.Address}", error),
        };
    }

    // Waits for an event, and for the loss of the handshake FIFO's reader: a server that dies is noticed at once.
    private static void WaitForServer(LocalName name, Descriptor awaited, short events, Descriptor handshakeFifo, Deadline deadline)
    {
        while (true)
        {
            var (ready, gone) = Libc.PollTwo(awaited, events, handshakeFifo, 0, deadline.LeftMilliseconds);
            if (ready != 0)
                return;
            if (gone != 0)
                throw NoServer(name, deadline);
            if (deadline.Expired)
                throw AcceptsNoClient(name);
        }
    }

    private static IpcException AcceptsNoClient(LocalName name) =>
        new(IpcStatus.TimedOut, $"the server at {name.Address} is there but accepts no client within the time-out");

    private static IpcException NoServer(LocalName name, Deadline deadline)
    {
        LocalNames.IfLocked(deadline, () => FifoNames.RemoveDead(name.Path));
        return new IpcException(IpcStatus.NoServer, $"nobody listens at {name.Address}: start the server first");
    }

    // 0, or the error. So few bytes go as a whole or not at all.
    private static int Write(Descriptor to, ReadOnlySpan<byte> bytes)
    {
        fixed (byte* p = bytes)
        {
            var vector = new Libc.IoVector { Base = p, Length = (nuint)bytes.Length };
            while (Libc.Write(to, &vector, 1) < 0)
            {
                if (Libc.LastError != Libc.EINTR)
                    return Libc.LastError;
            }
            return 0;
        }
    }
}
