namespace Ipc.Tests.CallOrders;

/// <summary>The functions that the library did not always have: with three others here, these tests run against how it was before.</summary>
internal static class Subject
{
    public static int ReceiveReply(IpcChannel channel, Span<byte> reply, int timeoutMilliseconds) => channel.ReceiveReply(reply, timeoutMilliseconds);

    public static bool TryReceive(IpcChannel channel, Span<byte> buffer, out int length, int timeoutMilliseconds) =>
        channel.TryReceive(buffer, out length, timeoutMilliseconds);

    public static void Cancel(IpcChannel channel) => channel.Cancel();
}
