using System.Diagnostics;
using System.Text;

namespace Ipc.Tests;

/// <summary>Participants that die at each step of what they do, files that are no queues, and memory that somebody damaged.</summary>
public sealed class QueueDeathTests
{
    /// <summary>Plays a participant up to a step and lets it die there: the file is closed, as the kernel does it, and nothing else is done.</summary>
    private sealed unsafe class Dying(QueueName name) : IDisposable
    {
        private readonly QueueFile _file = name.OpenFile();

        private byte* AtTail => _file.Memory + QueueLayout.HeaderBytes + QueueName.Get(_file, QueueLayout.Tail);

        public Dying Lock(int word, bool withSleepers = false)
        {
            QueueName.Set(_file, word, (_file.Participant << 1) | (withSleepers ? 1u : 0));
            return this;
        }

        /// <summary>Half of a record, beyond what is published.</summary>
        public Dying WriteHalf()
        {
            *(uint*)AtTail = 100;
            new Span<byte>(AtTail + 4, 50).Fill(0xEE);
            return this;
        }

        /// <summary>A whole record and the moment it exists.</summary>
        public Dying Publish(string message)
        {
            var tail = QueueName.Get(_file, QueueLayout.Tail);
            *(int*)AtTail = message.Length;
            *(uint*)(AtTail + 4) = tail;
            Encoding.UTF8.GetBytes(message).CopyTo(new Span<byte>(AtTail + 8, message.Length));
            QueueName.Set(_file, QueueLayout.Tail, tail + QueueLayout.Footprint((uint)message.Length));
            return this;
        }

        /// <summary>The moment the first message is taken.</summary>
        public Dying Consume(string message)
        {
            QueueName.Set(_file, QueueLayout.Head, QueueName.Get(_file, QueueLayout.Head) + QueueLayout.Footprint((uint)message.Length));
            return this;
        }

        public void Dispose() => _file.Dispose();
    }

    private static void Die(Dying participant) => participant.Dispose();

    [Fact]
    public void OfAWriterAtEachStepLosesNothing()
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k");
        queue.Enqueue("before"u8, Pair.Patience);
        Die(new Dying(name).Lock(QueueLayout.WriterLock));
        queue.Enqueue("after the lock"u8, Pair.Patience);
        Die(new Dying(name).Lock(QueueLayout.WriterLock, true).WriteHalf());
        queue.Enqueue("after half a record"u8, Pair.Patience);
        Die(new Dying(name).Lock(QueueLayout.WriterLock).Publish("its own"));
        queue.Enqueue("after publishing"u8, Pair.Patience);
        Die(new Dying(name).Publish("without waking"));
        foreach (var text in new[] { "before", "after the lock", "after half a record", "its own", "after publishing", "without waking" })
            Assert.Equal(text, QueueName.Take(queue));
        Assert.Null(QueueName.Take(queue));
    }

    [Fact]
    public void OfAReaderAtEachStepLosesNothingItHadNotTaken()
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k");
        foreach (var text in new[] { "first", "second", "third" })
            queue.Enqueue(Encoding.UTF8.GetBytes(text), Pair.Patience);
        Die(new Dying(name).Lock(QueueLayout.ReaderLock));
        Assert.Equal("first", QueueName.Take(queue));
        Die(new Dying(name).Lock(QueueLayout.ReaderLock).Consume("second"));
        Assert.Equal("third", QueueName.Take(queue));
        Assert.Null(QueueName.Take(queue));
    }

    [Fact]
    public void BeforeWakingIsMadeGoodByTheSleeper()
    {
        using var name = new QueueName();
        using var queue = name.Open("size=64k&wait=block");
        var sleeping = Aside.Run(() => QueueName.Take(queue, Pair.Patience));
        sleeping.UntilItWaits();
        var clock = Stopwatch.StartNew();
        Die(new Dying(name).Lock(QueueLayout.WriterLock).Publish("unannounced"));
        Assert.Equal("unannounced", sleeping.Join());
        Assert.InRange(clock.ElapsedMilliseconds, 0, 2000);
    }

    [Fact]
    public void AStoppedHolderIsNotRobbed()
    {
        using var name = new QueueName();
        using var holder = new Dying(name).Lock(QueueLayout.WriterLock);
        using var queue = name.Open();
        var clock = Stopwatch.StartNew();
        Assert.False(queue.TryEnqueue([1]));
        Assert.False(queue.TryEnqueue([1], 200));
        Assert.InRange(clock.ElapsedMilliseconds, 209, long.MaxValue);
        var waiting = Aside.Run(() => Pair.StatusOf(() => queue.Enqueue([1])));
        waiting.UntilItWaits();
        queue.Close();
        Assert.Equal(IpcStatus.Closed, waiting.Join());
    }

    [Fact]
    public void ItsNumberIsNotGivenAwayWhileALockNamesIt()
    {
        using var name = new QueueName();
        using var file = name.OpenFile();
        QueueName.Set(file, QueueLayout.WriterLock, QueueName.Get(file, QueueLayout.NextParticipant) << 1);
        using var queue = name.Open();
        queue.Enqueue("through"u8, Pair.Patience);
        // Numbers begin anew after the last, and those of the living are left alone.
        QueueName.Set(file, QueueLayout.NextParticipant, 0x7FFFFFFF);
        using var last = name.OpenFile();
        using var first = name.OpenFile();
        Assert.NotEqual(0u, last.Participant);
        Assert.NotEqual(file.Participant, first.Participant);
        Assert.True(last.IsAlive(file.Participant));
        Assert.True(last.IsAlive(last.Participant));
        Assert.False(last.IsAlive(12345));
    }

    [Fact]
    public void AFileThatIsNoQueueIsRefused()
    {
        void Expect(IpcStatus status, Action<string> damage)
        {
            using var name = new QueueName();
            name.Open("size=64k").Dispose();
            damage(name.Path);
            Assert.Equal(status, Pair.StatusOf(() => name.Open()));
            ManagedIpc.RemoveQueue(name.Address());
            name.Open().Dispose();
        }
        static void Overwrite(string path, int at)
        {
            using var file = File.OpenWrite(path);
            file.Position = at;
            file.WriteByte(0x7F);
        }
        static void Resize(string path, int change)
        {
            using var file = File.OpenWrite(path);
            file.SetLength(file.Length + change);
        }
        foreach (var at in new[] { 0, 4, 8 })
            Expect(IpcStatus.NotOurProtocol, path => Overwrite(path, at));
        foreach (var change in new[] { -1, 4096, -60_000, -68_000 })
            Expect(IpcStatus.NotOurProtocol, path => Resize(path, change));
        Expect(IpcStatus.NotOurProtocol, path =>
        {
            File.Delete(path);
            File.CreateSymbolicLink(path, "/etc/passwd");
        });
        Expect(IpcStatus.NotOurProtocol, path =>
        {
            File.Delete(path);
            Assert.Equal(0, FifoNames.Make(path));
        });
        Expect(IpcStatus.NoPermission, path => File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead));
    }

    [Fact]
    public unsafe void DamageIsAStatus()
    {
        using var name = new QueueName();
        using var file = name.OpenFile();
        using var queue = name.Open();
        int[] words = [QueueLayout.HeadSeen, QueueLayout.Tail, QueueLayout.ReadersParked, QueueLayout.TailSeen, QueueLayout.Head, QueueLayout.WritersParked];
        uint[] values = [1, 4, 7, 8, 64, 108, 1000, 65528, 65536, 65544, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF];
        void Reset()
        {
            foreach (var word in words)
                QueueName.Set(file, word, 0);
            queue.Enqueue("good"u8, Pair.Patience);
        }
        foreach (var word in words)
        {
            foreach (var value in values)
            {
                Reset();
                QueueName.Set(file, word, value);
                for (var i = 0; i < 20; i++)
                {
                    try
                    {
                        queue.TryEnqueue(new byte[100]);
                        queue.TryDequeue(new byte[1000], out _);
                    }
                    catch (IpcException e)
                    {
                        Assert.True(e.Status is IpcStatus.NotOurProtocol or IpcStatus.BufferTooSmall, e.Message);
                    }
                }
            }
        }
        foreach (var at in new[] { 0, 4 })
        {
            foreach (var value in values)
            {
                Reset();
                *(uint*)(file.Memory + QueueLayout.HeaderBytes + at) = value;
                if (at == 0 && value <= 8)
                    continue; // another length of the same record: nobody can tell
                for (var i = 0; i < 2; i++)
                    Assert.Equal(IpcStatus.NotOurProtocol, Pair.StatusOf(() => queue.TryDequeue(new byte[1000], out _)));
            }
        }
        foreach (var word in new[] { 1u, 2000u, 0x7FFFFFFFu, 0xFFFFFFFFu })
        {
            Reset();
            QueueName.Set(file, QueueLayout.WriterLock, word);
            QueueName.Set(file, QueueLayout.ReaderLock, word);
            queue.Enqueue("through"u8, Pair.Patience);
            Assert.Equal("good", QueueName.Take(queue));
        }
    }
}
