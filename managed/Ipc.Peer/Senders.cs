using System.Runtime.ExceptionServices;

namespace Ipc.Peer;

/// <summary>The sending threads of this process, which the runner hears of together: the last of them to come to a point speaks for all.</summary>
internal sealed class Senders(Control control, int threads)
{
    private readonly object _lock = new();
    private bool _failed;
    private bool _go;
    private int _warm;
    private int _sent;
    private int _told;
    private long _operations;
    private long _cold;
    private long _elapsed;
    private long _spun;
    private double _slowest = double.MaxValue;
    private double _fastest;
    private long _memoryBefore;
    private Counters _before;
    private Counters _after;

    /// <summary>Runs <paramref name="send"/> in so many threads, with numbers from 0 on; the first failure ends all and is thrown here.</summary>
    /// <param name="close">Makes every call return that is blocked.</param>
    public void Run(Action<int> send, Action close)
    {
        if (threads == 1)
        {
            send(0);
            return;
        }
        Exception? first = null;
        var all = Enumerable.Range(0, threads).Select(number => new Thread(() =>
        {
            try
            {
                send(number);
            }
            // Whatever it is ends the cell: it is thrown again by the thread that waits for all.
            catch (Exception e)
            {
                Interlocked.CompareExchange(ref first, e, null);
                GiveUp();
                close();
            }
        })).ToList();
        all.ForEach(t => t.Start());
        all.ForEach(t => t.Join());
        if (first is not null)
            ExceptionDispatchInfo.Throw(first);
    }

    /// <summary>A thread is warm. Says `warm` when all are, and returns in all of them when they may go.</summary>
    public void WaitForGo(long operations, long cold)
    {
        lock (_lock)
        {
            _operations += operations;
            _cold = Math.Max(_cold, cold);
            if (++_warm == threads)
            {
                control.Emit(new WarmEvent(_operations, Clock.ToNanoseconds(_cold)), EventJson.Default.WarmEvent);
                GC.Collect();
                _memoryBefore = Memory.Read();
                control.WaitForGo();
                _before = Counters.ReadBefore();
                (_operations, _go) = (0, true);
                Monitor.PulseAll(_lock);
            }
            while (!_go && !_failed)
                Monitor.Wait(_lock);
            if (_failed)
                throw new Failure("CLOSED", "another sending thread of this process has failed");
        }
    }

    /// <summary>A thread has sent what it had to.</summary>
    /// <param name="spun">Its processor time that only waited until messages were due, in ticks.</param>
    public void HaveSent(long operations, long ticks, long spun)
    {
        lock (_lock)
        {
            var rate = operations / (double)Math.Max(ticks, 1);
            (_slowest, _fastest) = (Math.Min(_slowest, rate), Math.Max(_fastest, rate));
            _operations += operations;
            _elapsed = Math.Max(_elapsed, ticks);
            _spun += spun;
            if (++_sent == threads)
                _after = Counters.ReadAfter().WithoutSpinning(_before, Clock.ToNanoseconds(_spun));
        }
    }

    /// <summary>What a thread has sent has arrived. Says `measured` when that is so of all.</summary>
    public void TellMeasured(int messageBytes)
    {
        lock (_lock)
        {
            if (++_told < threads)
                return;
            var measured = new MeasuredEvent(
                _operations, Clock.ToNanoseconds(_elapsed), _operations * messageBytes, _before.With(_memoryBefore), _after.With(Memory.Read()));
            control.Emit(measured with { SlowestByFastest = threads > 1 ? _slowest / _fastest : null }, EventJson.Default.MeasuredEvent);
        }
    }

    private void GiveUp()
    {
        lock (_lock)
        {
            _failed = true;
            Monitor.PulseAll(_lock);
        }
    }
}
