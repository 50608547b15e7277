using System.Buffers;
using System.Diagnostics;

namespace Ipc.Puppet;

/// <summary>The asynchronous members, which .NET 10 alone has.</summary>
internal static partial class AsyncVerbs
{
    static partial void Add(Dictionary<string, Verb> verbs)
    {
        verbs.Add("accept-async", Accept);
        verbs.Add("accept-cancelled", AcceptCancelled);
        verbs.Add("send-async", Send);
        verbs.Add("receive-async", Receive);
        verbs.Add("call-async", Call);
        verbs.Add("serve-async", Serve);
        verbs.Add("receive-cancelled", ReceiveCancelled);
        verbs.Add("send-cancelled", SendCancelled);
        verbs.Add("wait-many", WaitMany);
    }

    // The worker waits; what is tried waits without it.
    private static string Waited(Task<string> task) => task.GetAwaiter().GetResult();

    private static string Accept(Handles handles, Command command)
    {
        var (listener, name, timeout) = (handles.Listener(command.Word()), command.Word(), command.Timeout());
        return Waited(AcceptAsync());

        async Task<string> AcceptAsync()
        {
            using var late = new CancellationTokenSource(timeout);
            handles.Add(name, await listener.AcceptAsync(late.Token).ConfigureAwait(false));
            return "";
        }
    }

    private static string Send(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Payload();
        var timeout = command.Timeout();
        return Waited(SendAsync());

        async Task<string> SendAsync()
        {
            using var late = new CancellationTokenSource(timeout);
            await channel.SendAsync(message.Bytes(), late.Token).ConfigureAwait(false);
            return "";
        }
    }

    private static string Receive(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var buffer = new byte[command.Size()];
        var message = command.Expected();
        var timeout = command.Timeout();
        return Waited(ReceiveAsync());

        async Task<string> ReceiveAsync()
        {
            using var late = new CancellationTokenSource(timeout);
            var length = await channel.ReceiveAsync(buffer, late.Token).ConfigureAwait(false);
            message.RequireContent(buffer.AsSpan(0, length));
            return CallVerbs.Number(length);
        }
    }

    // COUNT calls, WINDOW of them at a time.
    private static string Call(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, window, most, seed, timeout) = (command.Number(), command.Size(), command.Size(), command.Number(), command.Timeout());
        return Waited(CallAsync());

        async Task<string> CallAsync()
        {
            using var late = new CancellationTokenSource(timeout);
            ulong next = 0;
            long bytes = 0;
            await Task.WhenAll(Enumerable.Range(0, window).Select(async _ =>
            {
                var reply = new byte[most];
                while (Interlocked.Increment(ref next) is var i && i <= count)
                {
                    var message = Payload.OfSeries(seed, i, most);
                    var length = await channel.CallAsync(message.Bytes(), reply, late.Token).ConfigureAwait(false);
                    message.Require(reply.AsSpan(0, length));
                    Interlocked.Add(ref bytes, length);
                }
            })).ConfigureAwait(false);
            return CallVerbs.Number(bytes);
        }
    }

    private static string Serve(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var atOnce = command.Size();
        return Waited(ServeAsync());

        async Task<string> ServeAsync()
        {
            await channel.ServeAsync((request, reply, _) =>
            {
                reply.Write(request.Span);
                return default;
            }, atOnce).ConfigureAwait(false);
            return "";
        }
    }

    // COUNT channels in pure .NET with both ends here, each of which waits for a message and then gets one; every other one sends meanwhile what nobody
    // takes. Answers how many threads that took.
    private static string WaitMany(Handles handles, Command command)
    {
        var (address, count) = (command.Word(), command.Size());
        using var listener = ManagedIpc.Listen(address);
        var (servers, clients) = (new List<IpcChannel>(), new List<IpcChannel>());
        try
        {
            for (var i = 0; i < count; i++)
            {
                var connecting = Task.Run(() => ManagedIpc.Connect(listener.Address, 10_000));
                servers.Add(listener.Accept(10_000));
                clients.Add(connecting.GetAwaiter().GetResult());
            }
            var before = ThreadCount();
            // Nothing but the wait itself keeps the channels that wait.
            var waiting = servers.ConvertAll(server =>
            {
                var received = new TaskCompletionSource<int>();
                _ = ReceiveAsync(server, received);
                return received.Task;
            });
            long sent = 0;
            var filling = servers.Where((_, i) => i % 2 == 0)
                .Select(server => FillAsync(server, new byte[100_000], () => Interlocked.Increment(ref sent))).ToList();
            servers.Clear();
            // Until all are stuck.
            for (var seen = -1L; Volatile.Read(ref sent) is var now && now != seen; seen = now)
                Thread.Sleep(300);
            if (filling.Exists(sending => sending.IsCompleted))
                throw new WrongException("a channel whose peer takes nothing has stopped sending");
            var threads = ThreadCount() - before;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            for (var i = 0; i < count; i++)
                clients[i].Send(new byte[i % 100]);
            for (var i = 0; i < count; i++)
            {
                if (!waiting[i].Wait(10_000))
                    throw new WrongException($"channel {i} has received nothing");
                if (waiting[i].Result is var length && length != i % 100)
                    throw new WrongException($"channel {i} received {length} bytes instead of {i % 100}");
            }
            return CallVerbs.Number(threads);
        }
        finally
        {
            clients.ForEach(client => client.Dispose());
            servers.ForEach(server => server.Dispose());
        }
    }

    private static async Task ReceiveAsync(IpcChannel channel, TaskCompletionSource<int> received)
    {
        using (channel)
            received.SetResult(await channel.ReceiveAsync(new byte[100]).ConfigureAwait(false));
    }

    private static int ThreadCount()
    {
        using var self = Process.GetCurrentProcess();
        return self.Threads.Count;
    }

    // Sends until nobody takes any more, and is cancelled. Answers how long it took from then on.
    private static string SendCancelled(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (message, patience) = (new byte[command.Size()], command.Timeout());
        return Waited(CancelAsync());

        async Task<string> CancelAsync()
        {
            using var cancellation = new CancellationTokenSource();
            var sending = FillAsync(channel, message, () => { }, cancellation.Token);
            await Task.Delay(patience).ConfigureAwait(false);
            if (sending.IsCompleted)
                await sending.ConfigureAwait(false); // throws
            var start = Stopwatch.GetTimestamp();
            await cancellation.CancelAsync().ConfigureAwait(false);
            try
            {
                await sending.ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                return CallVerbs.Number((long)Stopwatch.GetElapsedTime(start).TotalMilliseconds);
            }
            throw new WrongException("it sent without end, though cancelled");
        }
    }

    private static async Task FillAsync(IpcChannel channel, byte[] message, Action sent, CancellationToken token = default)
    {
        while (true)
        {
            await channel.SendAsync(message, token).ConfigureAwait(false);
            sent();
        }
    }

    // Waits TIMES times for a client that does not come, and is cancelled. Answers how long the longest took from then on.
    private static string AcceptCancelled(Handles handles, Command command)
    {
        var listener = handles.Listener(command.Word());
        return Cancelled(command, "an accept", token => listener.AcceptAsync(token).AsTask());
    }

    // The same, for what does not come.
    private static string ReceiveCancelled(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        return Cancelled(command, "a receive", token => channel.ReceiveAsync(new byte[100], token).AsTask());
    }

    private static string Cancelled(Command command, string what, Func<CancellationToken, Task> begin)
    {
        var (times, patience) = (command.Size(), command.Timeout());
        return Waited(CancelAsync());

        async Task<string> CancelAsync()
        {
            var longest = TimeSpan.Zero;
            for (var i = 0; i < times; i++)
            {
                using var cancellation = new CancellationTokenSource();
                var waiting = begin(cancellation.Token);
                await Task.Delay(patience).ConfigureAwait(false);
                if (waiting.IsCompleted)
                    throw new WrongException($"{what} has ended though nothing came");
                var start = Stopwatch.GetTimestamp();
                await cancellation.CancelAsync().ConfigureAwait(false);
                try
                {
                    await waiting.ConfigureAwait(false);
                    throw new WrongException($"{what} that was cancelled has succeeded");
                }
                catch (OperationCanceledException)
                {
                    var took = Stopwatch.GetElapsedTime(start);
                    longest = took > longest ? took : longest;
                }
            }
            return CallVerbs.Number((long)longest.TotalMilliseconds);
        }
    }
}
