using System.Runtime.Versioning;
using static Ipc.Win32Mailslots;

namespace Ipc;

/// <summary>How two ends find each other, docs/wire-formats.md "Mailslots".</summary>
[SupportedOSPlatform("windows")]
internal static class MailslotHandshake
{
    // How long a client may take for its last step.
    private const int ConfirmationMilliseconds = 1000;
    // A listener may go and another take its name while a client waits: the client says hello to it too.
    private const int HelloAgainMilliseconds = 1000;

    // All names of this user. A connection's begin with a dot, as no listener's does.
    private static string Place => $@"\\.\mailslot\ipc\{Win32.ThisUser}\";

    public static string NameOf(IpcAddress address)
    {
        PlainName.Check(address);
        return Place + address.Name;
    }

    /// <summary>The client's part.</summary>
    public static MailslotStream MeetServer(IpcAddress address, Deadline deadline)
    {
        var listener = NameOf(address);
        var token = MailslotWire.NewToken();
        var (input, read) = MakeSlots(address, $"{Place}.{token}.to-client", $"{Place}.{token}.to-server.read");
        using var nobody = new ManualResetEvent(false);
        PeerProcess? server = null;
        try
        {
            var hello = MailslotWire.MakeHandshake(token);
            SayHello(address, listener, hello);
            var again = new Deadline(HelloAgainMilliseconds);
            uint process;
            while (!NextHandshake(input, token, nobody, out process))
            {
                if (deadline.Expired)
                    throw new IpcException(IpcStatus.TimedOut, $"the server at {address} is there but accepts no client within the time-out");
                if (again.Expired)
                {
                    again = new Deadline(HelloAgainMilliseconds);
                    SayHello(address, listener, hello);
                }
                else
                {
                    OpenListener(address, listener).Dispose();
                }
            }
            server = new PeerProcess(process, address);
            var (output, told) = OpenSlots(address, $"{Place}.{token}.to-server", $"{Place}.{token}.to-client.read");
            if (output.Send(hello) == IpcStatus.Ok)
                return new MailslotStream(new MailslotSlots(input, read, output, told), server);
            output.Dispose();
            told.Dispose();
            throw new IpcException(IpcStatus.PeerClosed, $"the server at {address} closed or died before the connection was made");
        }
        catch
        {
            server?.Dispose();
            input.Dispose();
            read.Dispose();
            throw;
        }
    }

    /// <summary>The server's part, after a client's first message, which may be anything. Waits at most a second for the client's last
    /// step. Null: the client died, gave up or misbehaves, or the listener closes.</summary>
    public static MailslotStream? MeetClient(IpcAddress address, ReadOnlySpan<byte> hello, ManualResetEvent closing)
    {
        if (MailslotWire.ReadHandshake(hello, out var process) is not { } token)
            return null;
        var things = new List<IDisposable>();
        try
        {
            var client = new PeerProcess(process, address);
            things.Add(client);
            var (output, told) = OpenSlots(address, $"{Place}.{token}.to-client", $"{Place}.{token}.to-server.read");
            things.AddRange([output, told]);
            // A client that says hello twice is not served twice: the names are taken, or its own have gone.
            var (input, read) = MakeSlots(address, $"{Place}.{token}.to-server", $"{Place}.{token}.to-client.read");
            things.AddRange([input, read]);
            if (output.Send(MailslotWire.MakeHandshake(token)) == IpcStatus.Ok)
            {
                var limit = new Deadline(ConfirmationMilliseconds);
                var met = false;
                while (!(met = NextHandshake(input, token, closing, out _)) && !limit.Expired && !client.Ended && !closing.WaitOne(0))
                {
                }
                if (met)
                    return new MailslotStream(new MailslotSlots(input, read, output, told), client);
            }
        }
        catch (IpcException)
        {
            // The client's failure, not the server's: the next one is waited for.
        }
        things.ForEach(thing => thing.Dispose());
        return null;
    }

    // Takes the next message that comes within a slice; false if it is none of this connection's handshake.
    private static bool NextHandshake(Slot slot, string token, ManualResetEvent closing, out uint process)
    {
        Span<byte> room = stackalloc byte[MailslotWire.MostInMessage + 1];
        process = 0;
        var length = slot.Receive(room, Slot.SliceMilliseconds, closing);
        return length > 0 && MailslotWire.ReadHandshake(room[..length], out process) == token;
    }

    // Says hello. The listener is held no longer than that: a name lives as long as somebody has it open (on Wine).
    private static void SayHello(IpcAddress address, string name, byte[] hello)
    {
        using var listener = OpenListener(address, name);
        // No room: it is said again.
        if (listener.Send(hello) == IpcStatus.PeerClosed)
            throw NoServer(address);
    }

    private static SlotWriter OpenListener(IpcAddress address, string name)
    {
        var listener = new SlotWriter(name, out var error);
        // Wine does not know who owns a mailslot; the process behind it is asked later in any case.
        var owner = error == 0 ? Win32.OwnerOf(listener.Handle) : null;
        if (error == 0 && (owner is null || owner == Win32.ThisUser))
            return listener;
        listener.Dispose();
        throw error switch
        {
            0 => new IpcException(IpcStatus.NoPermission, $"the mailslot of {address} belongs to {owner}, not to this user: choose another name"),
            ERROR_FILE_NOT_FOUND or ERROR_PATH_NOT_FOUND => NoServer(address),
            ERROR_ACCESS_DENIED => new IpcException(IpcStatus.NoPermission,
                $"may not write to the mailslot of {address}, which is another user's: {Win32.ErrorText(error)}"),
            _ => Slot.Failure($"cannot connect to {address}", error),
        };
    }

    private static IpcException NoServer(IpcAddress address) => new(IpcStatus.NoServer, $"nobody listens at {address}: start the server first");

    private static (Slot, Slot) MakeSlots(IpcAddress address, string input, string read)
    {
        var first = new Slot(input, MailslotWire.MostInMessage, out var error);
        var second = new Slot(read, MailslotWire.TrailerLength, out var secondError);
        if (error == 0 && secondError == 0)
            return (first, second);
        first.Dispose();
        second.Dispose();
        throw Slot.Failure($"cannot make a mailslot for a connection to {address}", error != 0 ? error : secondError);
    }

    private static (SlotWriter, SlotWriter) OpenSlots(IpcAddress address, string output, string told)
    {
        var first = new SlotWriter(output, out var error);
        var second = new SlotWriter(told, out var secondError);
        if (error == 0 && secondError == 0)
            return (first, second);
        first.Dispose();
        second.Dispose();
        throw new IpcException(IpcStatus.PeerClosed, $"the peer at {address} closed or died before the connection was made");
    }
}
