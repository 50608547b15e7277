using static Ipc.Tests.RingText;

namespace Ipc.Tests;

/// <summary>Openers of a ring that die, words at the end of their range, and damaged ones.</summary>
public sealed class RingDeathTests
{
    /// <summary>An opener of which only the file and its number exist: closing the file without finishing is what the kernel does to a
    /// process killed there.</summary>
    private sealed class Victim : IDisposable
    {
        private readonly RingFile _file;
        private readonly RingFifo _fifo;
        private readonly RingLifo _lifo;

        public unsafe Victim(string address)
        {
            _file = RingFile.Open(IpcAddress.Parse(address), new Deadline(Timeout.Infinite));
            Blocks = new RingBlocks(_file.Memory, _file.BlockCount, _file.BlockBytes);
            _fifo = new RingFifo(Blocks);
            _lifo = new RingLifo(Blocks);
        }

        public RingBlocks Blocks { get; }

        public void Claim(bool writes)
        {
            var claim = (_file.Order, writes) switch
            {
                (RingOrder.Fifo, true) => _fifo.ClaimWrite(_file.Number, out _, out _),
                (RingOrder.Fifo, false) => _fifo.ClaimRead(_file.Number, 100, out _, out _, out _),
                (_, true) => _lifo.ClaimWrite(_file.Number, out _),
                _ => _lifo.ClaimRead(_file.Number, 100, out _, out _),
            };
            Assert.Equal(RingClaim.Taken, claim);
        }

        /// <summary>Lifo: only announces the claim of a free block, as one killed right after its first step.</summary>
        public unsafe void Announce()
        {
            var head = *Blocks.FreeHead;
            *Blocks.FreeHead = RingHead.Of(RingHead.Tag(head) + 1, RingHead.First(head), _file.Number, RingStep.Pop);
        }

        /// <summary>Fifo: only claims the block; the cursor has not followed.</summary>
        public unsafe void ClaimWithoutCursor()
        {
            var at = *Blocks.WriteEnd;
            Assert.True(RingBlocks.Swap(Blocks.State((uint)at & (Blocks.Count - 1)), RingState.Of(at, 0, RingPhase.Free),
                RingState.Of(at, _file.Number, RingPhase.Writing)));
        }

        public void Dispose() => _file.Dispose();
    }

    private static void ExpectAWorkingRing(IpcQueue ring, int blocks)
    {
        while (Received(ring, 0) != "nothing")
        {
        }
        for (var lap = 0; lap < 3; lap++)
        {
            for (var i = 0; i < blocks; i++)
                Assert.True(Send(ring, $"{i}"), "a block did not come back");
            Assert.Equal(blocks, Enumerable.Range(0, blocks).Select(_ => Received(ring)).Distinct().Count());
        }
    }

    [Theory]
    [InlineData("fifo", true)]
    [InlineData("fifo", false)]
    [InlineData("lifo", true)]
    [InlineData("lifo", false)]
    public void ADeathWithABlockStopsNobody(string order, bool writes)
    {
        foreach (var wait in new[] { "block", "spin" })
        {
            var address = NewAddress($"blocks=2&block=100&order={order}&wait={wait}");
            using var ring = ManagedIpc.OpenQueue(address);
            if (!writes)
                Send(ring, "taken along");
            using (var victim = new Victim(address))
                victim.Claim(writes);
            ExpectAWorkingRing(ring, 2);
        }
    }

    [Fact]
    public void ADeathBetweenItsFirstTwoStepsStopsNobody()
    {
        var fifo = NewAddress("blocks=2&block=100&wait=block");
        using var ring = ManagedIpc.OpenQueue(fifo);
        using (var victim = new Victim(fifo))
            victim.ClaimWithoutCursor();
        ExpectAWorkingRing(ring, 2);
        var lifo = NewAddress("blocks=2&block=100&wait=block&order=lifo");
        using var stack = ManagedIpc.OpenQueue(lifo);
        using (var victim = new Victim(lifo))
            victim.Announce();
        using var heir = ManagedIpc.OpenQueue(lifo); // has the dead one's number
        ExpectAWorkingRing(stack, 2);
    }

    [Fact]
    public void TheLivingAreLeftAlone()
    {
        var address = NewAddress("blocks=2&block=100&wait=block");
        using var ring = ManagedIpc.OpenQueue(address);
        using var slow = new Victim(address);
        slow.Claim(true);
        Assert.True(Send(ring, "behind it", 0));
        Assert.Equal("nothing", Received(ring, 250));
    }

    [Fact]
    public unsafe void PositionsPassTheEndOfTheirWords()
    {
        foreach (var first in new[] { (1UL << 48) - 3, ulong.MaxValue - 3 })
        {
            var address = NewAddress("blocks=4&block=100");
            var file = RingFile.Open(IpcAddress.Parse(address), new Deadline(Timeout.Infinite));
            RingBlocks.Format(file.Memory, RingOrder.Fifo, 4, 100, first);
            using var ring = new RingQueue(file, new WaitPolicy(WaitMode.Block, 0), 100);
            for (var i = 0; i < 50; i++)
            {
                Assert.True(Send(ring, $"{i}", 0) && Send(ring, $"{i}+", 0) && Send(ring, $"{i}++", 0));
                Assert.Equal($"{i} {i}+ {i}++", $"{Received(ring, 0)} {Received(ring, 0)} {Received(ring, 0)}");
            }
        }
    }

    [Fact]
    public unsafe void DamageIsFoundOutAndLeadsNobodyAstray()
    {
        var random = new Random(5);
        for (var round = 0; round < 200; round++)
        {
            var address = NewAddress($"blocks=4&block=100&order={(round % 2 == 0 ? "fifo" : "lifo")}");
            using var ring = ManagedIpc.OpenQueue(address);
            using var hostile = new Victim(address);
            Assert.True(Send(ring, "x", 0));
            if (round < 2)
            {
                for (uint i = 0; i < 4; i++)
                    *hostile.Blocks.Length(i) = round == 0 ? 101 : uint.MaxValue;
                Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => ring.TryDequeue(new byte[200], out _, 50)));
                continue;
            }
            for (var i = 0; i < 3; i++)
            {
                var noise = random.Next(4) == 0 ? (ulong)random.NextInt64() : (ulong)random.Next(64);
                var word = random.Next(4) switch
                {
                    0 => hostile.Blocks.WriteEnd,
                    1 => hostile.Blocks.ReadEnd,
                    2 => random.Next(2) == 0 ? hostile.Blocks.FreeHead : hostile.Blocks.FullHead,
                    _ => hostile.Blocks.State((uint)random.Next(4)),
                };
                *word = noise;
            }
            for (var i = 0; i < 4; i++)
            {
                try
                {
                    ring.TryEnqueue([1], 0);
                    ring.TryDequeue(new byte[100], out _, 0);
                }
                catch (IpcException e)
                {
                    Assert.Equal(IpcStatus.NotOurProtocol, e.Status);
                }
            }
        }
    }
}
