namespace Ipc.Tests;

public sealed class AllocationTests
{
    // The smallest object there is. A collection, which other tests may cause, lets the count jump by up to 8 kB once; one
    // object for each of a thousand calls would be three times that.
    private const int SmallestObject = 24;
    private const int Calls = 1000;

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void CallsAllocateNothingOnEitherSide(string transport)
    {
        using var pair = new Pair(transport);
        var sizes = new[] { 32, 5000, 100_000 };
        var serving = Aside.Run(() => Measured(sizes, length =>
        {
            var request = pair.Server.ReceiveRequest(Pair.Patience);
            if (length % 3 == 0)
                pair.Server.Reply(request, Pair.Patience);
            else
            {
                request.CopyTo(pair.Server.ReserveReply(length, Pair.Patience));
                pair.Server.CommitReply(length, Pair.Patience);
            }
        }));
        var buffer = new byte[100_000];
        var called = Measured(sizes, length => pair.Client.Call(buffer.AsSpan(0, length), buffer, Pair.Patience));
        Assert.InRange(called, 0, (SmallestObject * Calls) - 1);
        Assert.InRange(serving.Join(), 0, (SmallestObject * Calls) - 1);

        static long Measured(int[] sizes, Action<int> exchange)
        {
            long worst = 0;
            foreach (var length in sizes)
            {
                for (var i = 0; i < Calls / 10; i++)
                    exchange(length);
                var before = GC.GetAllocatedBytesForCurrentThread();
                for (var i = 0; i < Calls; i++)
                    exchange(length);
                worst = Math.Max(worst, GC.GetAllocatedBytesForCurrentThread() - before);
            }
            return worst;
        }
    }

    [Theory]
    [MemberData(nameof(Pair.Transports), MemberType = typeof(Pair))]
    public void MessagesAllocateNothing(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[4000];
        long before = 0;
        for (var i = 0; i < Calls + 100; i++)
        {
            if (i == 100)
                before = GC.GetAllocatedBytesForCurrentThread();
            pair.Client.Send(buffer.AsSpan(0, 40), Pair.Patience);
            pair.Server.Receive(buffer, Pair.Patience);
            pair.Client.Reserve(buffer.Length, Pair.Patience).Fill(1);
            pair.Client.Commit(buffer.Length, Pair.Patience);
            pair.Server.Peek(Pair.Patience);
            pair.Server.Release();
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (SmallestObject * Calls) - 1);
    }
}
