using System.Text;

namespace Ipc.Tests;

/// <summary>Rings nobody else has, and messages of text in them.</summary>
internal static class RingText
{
    public static string NewAddress(string options = "") => Pair.NewAddress("ring", options);

    public static string PathOf(string address) => $"{LinuxRingFile.Folder}/ring-{IpcAddress.Parse(address).Name}";

    public static string Received(IpcQueue ring, int timeout = Pair.Patience)
    {
        var buffer = new byte[5000];
        return ring.TryDequeue(buffer, out var length, timeout) ? Encoding.ASCII.GetString(buffer, 0, length) : "nothing";
    }

    public static bool Send(IpcQueue ring, string text, int timeout = Pair.Patience) =>
        ring.TryEnqueue(Encoding.ASCII.GetBytes(text), timeout);
}
