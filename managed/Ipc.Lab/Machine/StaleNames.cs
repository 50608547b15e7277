using System.Net.Sockets;
using Ipc.Lab.Running;

namespace Ipc.Lab.Machine;

/// <summary>Finds names that transports left behind when their process was killed (docs/wire-formats.md, "Names on Linux").</summary>
internal static class StaleNames
{
    /// <summary>Paths of sockets of ours that nobody listens on.</summary>
    public static IReadOnlyList<string> Find() =>
    [
        .. from folder in LeftoverNames.Folders()
           from path in Directory.EnumerateFileSystemEntries(folder, folder == LeftoverNames.PrivateFolder() ? "*" : "CoreFxPipe_*")
           where !IsFifo(path) && IsDead(path)
           select path,
    ];

    // A FIFO has no listener to ask without disturbing one; sockets answer.
    private static bool IsFifo(string path) => Path.GetFileName(path).StartsWith("fifo-", StringComparison.Ordinal);

    private static bool IsDead(string path)
    {
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            socket.Blocking = false;
            socket.Connect(new UnixDomainSocketEndPoint(path));
            return false;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode == SocketError.ConnectionRefused;
        }
    }
}
