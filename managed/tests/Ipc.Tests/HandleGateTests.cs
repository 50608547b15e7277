namespace Ipc.Tests;

/// <summary>The gate by itself: nobody is inside when AwaitEmpty returns, however they went in.</summary>
public sealed class HandleGateTests
{
    private const int Rounds = 200;

    /// <summary>A handle, reduced to what it has of the gate; its word must be no copy.</summary>
    private abstract class Handle
    {
        public abstract void Visit(int thread, Action inside);
        public abstract bool TryEnd();
        public abstract void AwaitEmpty();
        public abstract bool TryEnterBeside();
    }

    private sealed class OneAtATime : Handle
    {
        private HandleGate<TwoDoors> _gate;

        public override void Visit(int thread, Action inside)
        {
            ref var door = ref thread == 0 ? ref _gate.Doors.Sender : ref _gate.Doors.Receiver;
            var byTheDoor = _gate.Enter(ref door);
            inside();
            _gate.Leave(ref door, byTheDoor);
        }

        public override bool TryEnd() => _gate.TryEnd();
        public override void AwaitEmpty() => _gate.AwaitEmpty();
        public override bool TryEnterBeside() => _gate.TryEnterBeside();
    }

    private sealed class AnyNumber : Handle
    {
        private HandleGate<ThreadDoors> _gate;

        public override void Visit(int thread, Action inside)
        {
            using var visit = new ThreadVisit(ref _gate);
            inside();
        }

        public override bool TryEnd() => _gate.TryEnd();
        public override void AwaitEmpty() => _gate.AwaitEmpty();
        public override bool TryEnterBeside() => _gate.TryEnterBeside();
    }

    [Fact]
    public void NobodyIsInsideAfterTheEndOfWhatOneThreadAtATimeUses() => EndWhileThreadsAreInside(() => new OneAtATime(), 2);

    [Fact]
    public void NobodyIsInsideAfterTheEndOfWhatThreadsShare() => EndWhileThreadsAreInside(() => new AnyNumber(), 4);

    [Fact]
    public void MoreThreadsThanDoorsAreCounted() => EndWhileThreadsAreInside(() => new AnyNumber(), 20, rounds: 10);

    private static void EndWhileThreadsAreInside(Func<Handle> make, int threads, int rounds = Rounds)
    {
        for (var round = 0; round < rounds; round++)
        {
            var handle = make();
            var (alive, stop, wrong) = (true, false, false);
            var all = Enumerable.Range(0, threads).Select(me => Aside.Run(() =>
            {
                while (!Volatile.Read(ref stop))
                    handle.Visit(me, LookAround);
            })).ToArray();
            Thread.SpinWait(round * 50);
            Volatile.Write(ref stop, true);
            Assert.True(handle.TryEnd());
            Assert.False(handle.TryEnd());
            handle.AwaitEmpty();
            Volatile.Write(ref alive, false);
            Assert.False(handle.TryEnterBeside());
            foreach (var one in all)
                one.Join();
            Assert.False(wrong);

            void LookAround()
            {
                if (Volatile.Read(ref stop))
                    return;
                for (var look = 0; look < 10; look++)
                    wrong |= !Volatile.Read(ref alive);
            }
        }
    }
}
