namespace Ipc.Tests;

/// <summary>The thread that waits for descriptors ends when nobody waits for any.</summary>
[Collection(nameof(EpollThreadTests))]
public sealed class EpollThreadTests
{
    // Nobody else's descriptors, which would keep the thread.
    [CollectionDefinition(nameof(EpollThreadTests), DisableParallelization = true)]
    public sealed class Alone;

    private const int Rounds = 200;

    [Theory, InlineData(1), InlineData(2), InlineData(3), InlineData(4), InlineData(5)]
    public void WhoComesWhileItEndsIsToldAllTheSame(int series)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        var idle = EpollThread.IdleMilliseconds;
        var writable = Enumerable.Range(0, Rounds).Select(_ => Libc.Socket(Libc.AF_UNIX, Libc.SOCK_STREAM, "a test")).ToList();
        // So it ends as soon as there is nobody, and each round may meet its end.
        EpollThread.IdleMilliseconds = 0;
        try
        {
            for (var round = 0; round < Rounds; round++)
            {
                using var target = new Target();
                var id = EpollThread.Add(writable[round], Libc.EPOLLOUT, target);
                Assert.True(target.Told.Wait(Pair.Patience), $"series {series}, round {round}: nobody waits for this descriptor");
                // Without the descriptor it takes no system call, during which the thread would end before the next one comes.
                EpollThread.Remove(id, null);
            }
        }
        finally
        {
            EpollThread.IdleMilliseconds = idle;
            writable.ForEach(socket => socket.Dispose());
        }
    }

    private sealed class Target : IReadyTarget, IDisposable
    {
        public ManualResetEventSlim Told { get; } = new();
        public void Ready(uint events) => Told.Set();
        public void Dispose() => Told.Dispose();
    }
}
