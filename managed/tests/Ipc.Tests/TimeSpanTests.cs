namespace Ipc.Tests;

public sealed class TimeSpanTests
{
    [Fact]
    public void TimeSpansAreTimeOuts()
    {
        using var pair = new Pair("unix");
        var buffer = new byte[10];
        Assert.False(pair.Server.TryReceive(buffer, out _, TimeSpan.FromMilliseconds(1)));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Server.Receive(buffer, TimeSpan.FromTicks(1))));
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Listener.Accept(TimeSpan.Zero)));
        Assert.False(pair.Listener.TryAccept(out var nobody));
        Assert.Null(nobody);
        pair.Client.Send([1, 2], Timeout.InfiniteTimeSpan);
        Assert.Equal(2, pair.Server.Receive(buffer, Timeout.InfiniteTimeSpan));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => pair.Client.Send([1], TimeSpan.FromMilliseconds(-2))));
        Assert.Equal(IpcStatus.InvalidArgument, Pair.StatusOf(() => pair.Client.Call([1], buffer, TimeSpan.FromDays(-1))));
    }

    [Fact]
    public void AFailureIsAnInputOutputException()
    {
        using var pair = new Pair("unix");
        pair.Client.Dispose();
        Assert.ThrowsAny<IOException>(() => pair.Server.Receive(new byte[1]));
    }
}
