namespace Ipc.Tests;

public sealed class AsyncAllocationTests
{
    // As in AllocationTests: the smallest object, for each of so many.
    private const int Operations = 1000;
    private const int SmallestObject = 24;

    [Theory]
    [InlineData("unix")]
    [InlineData("tcp")]
    [InlineData("pipe")]
    [InlineData("fifo")]
    [InlineData("shm")]
    [InlineData("shm-event")]
    public void WhatCompletesAtOnceAllocatesNothing(string transport)
    {
        using var pair = new Pair(transport);
        var buffer = new byte[4000];
        using var cancellation = new CancellationTokenSource();
        long before = 0, received = 0;
        for (var i = 0; i < Operations + 100; i++)
        {
            if (i == 100)
                before = GC.GetAllocatedBytesForCurrentThread();
            Finished.AtOnce(pair.Client.SendAsync(buffer.AsMemory(0, 40), cancellation.Token));
            // tcp delivers when it likes.
            received += Finished.ResultOf(pair.Server.ReceiveAsync(buffer, cancellation.Token));
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (SmallestObject * Operations) - 1);
        Assert.Equal((Operations + 100) * 40, received);
    }

    [Theory]
    [InlineData("unix")]
    [InlineData("shm?wait=block")]
    [InlineData("shm-event?wait=block")]
    public void WaitingAllocatesNothingEither(string transport)
    {
        using var pair = new Pair(transport);
        var message = new byte[40];
        var buffer = new byte[4000];
        long before = 0, waited = 0, received = 0;
        for (var i = 0; i < Operations + 100; i++)
        {
            if (i == 100)
                before = GC.GetAllocatedBytesForCurrentThread();
            var receiving = pair.Server.ReceiveAsync(buffer);
            if (!receiving.IsCompleted)
                waited++;
            pair.Client.Send(message);
            received += Finished.ResultOf(receiving);
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, (SmallestObject * Operations) - 1);
        Assert.Equal((Operations + 100, (Operations + 100) * message.Length), (waited, received));
    }
}

/// <summary>Waits without await, which would go on on another thread than the one whose allocations are counted.</summary>
internal static class Finished
{
    public static void AtOnce(ValueTask operation)
    {
        if (!operation.IsCompletedSuccessfully)
            Assert.Fail("it did not complete at once");
    }

    public static int ResultOf(ValueTask<int> operation)
    {
        while (!operation.IsCompleted)
            Thread.Yield();
        return operation.Result;
    }
}
