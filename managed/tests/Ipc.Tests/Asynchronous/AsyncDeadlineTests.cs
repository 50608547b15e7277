using System.Diagnostics;

namespace Ipc.Tests;

/// <summary>Every asynchronous operation against a peer that does nothing: it ends when its token is cancelled, and not later.</summary>
public sealed class AsyncDeadlineTests
{
    private const int Timeout = 50;

    // No operation outlasts its token by more than this, and by what lies between two looks at the token where there is no event (docs/dotnet.md).
    private const int Grace = 20, Look = 20, LookOfAListener = 50;

    // Other programs can make any one operation late; they do not make the same one late so often.
    private const int Tries = 20;

    // Does not fit on the way; over shm-event everything fits, and is copied at one go.
    private const int Much = 32 << 20, MuchInOneBlock = 1 << 20;

    private static readonly byte[] s_much = new byte[Much];

    private static readonly string[] s_oneBlock = ["shm-event?wait=block", "shm-event?wait=adaptive", "shm-event?wait=spin"];

    private static readonly string s_text = new('t', 4 << 20);

    private static readonly Dictionary<string, Func<Pair, CancellationToken, Task>> s_operations = new()
    {
        ["receive"] = (pair, token) => pair.Server.ReceiveAsync(new byte[10], token).AsTask(),
        ["request"] = (pair, token) => pair.Server.ReceiveRequestAsync(new byte[10], token).AsTask(),
        ["serve"] = (pair, token) => pair.Server.ServeAsync((_, _, _) => ValueTask.CompletedTask, null, token),
        ["call"] = (pair, token) => pair.Client.CallAsync(new byte[1], new byte[10], token).AsTask(),
        ["call of much"] = (pair, token) => pair.Client.CallAsync(MuchFor(pair), new byte[10], token).AsTask(),
        ["send of much"] = (pair, token) => pair.Client.SendAsync(MuchFor(pair), token).AsTask(),
        ["reply of much"] = (pair, token) => Answer(pair, server => server.ReplyAsync(MuchFor(pair), token)),
        ["failure of much"] = (pair, token) => Answer(pair, server => server.FailRequestAsync(s_text, token)),
        ["accept"] = (pair, token) => pair.Listener.AcceptAsync(token).AsTask(),
    };

    public static TheoryData<string, string> Operations
    {
        get
        {
            var all = new TheoryData<string, string>();
            foreach (var transport in Pair.Transports.AsEnumerable<object[]>().Select(row => (string)row[0]))
            {
                foreach (var operation in s_operations.Keys)
                    all.Add(transport, operation);
            }
            return all;
        }
    }

    [Theory]
    [MemberData(nameof(Operations))]
    public void NothingOutlastsItsToken(string transport, string operation)
    {
        // What is short enough for the system's buffers, or for one block, goes at once.
        var mayFit = operation.EndsWith("much", StringComparison.Ordinal) && (s_oneBlock.Contains(transport) || transport == "tcp");
        EndsWithItsToken(transport, Timeout + Grace + (operation == "accept" ? LookOfAListener : LookOf(transport)), s_operations[operation], mayFit);
    }

    public static TheoryData<string> OneBlock => [.. s_oneBlock];

    // The block is full: there is no room for a byte.
    [Theory]
    [MemberData(nameof(OneBlock))]
    public void NorDoesWhatHasNoRoom(string transport)
    {
        var allowed = Timeout + Grace + LookOf(transport);
        EndsWithItsToken(transport, allowed, (pair, token) => Full(pair.Client, client => client.SendAsync(new byte[1], token)), false);
        EndsWithItsToken(transport, allowed,
            (pair, token) => Full(pair.Client, async client => await client.CallAsync(new byte[1], new byte[1], token)), false);
        EndsWithItsToken(transport, allowed,
            (pair, token) => Answer(pair, server => new ValueTask(Full(server, full => full.ReplyAsync(new byte[1], token)))), false);
    }

    // A side that only spins is woken by nobody.
    private static int LookOf(string transport) => transport.EndsWith("spin", StringComparison.Ordinal) ? Look : 0;

    private static Task Full(IpcChannel channel, Func<IpcChannel, ValueTask> then)
    {
        channel.Send(new byte[1], 0);
        return then(channel).AsTask();
    }

    private static void EndsWithItsToken(string transport, int allowed, Func<Pair, CancellationToken, Task> begin, bool mayFit)
    {
        var least = long.MaxValue;
        for (var i = 0; i < Tries && least > allowed; i++)
        {
            using var pair = new Pair(transport);
            using var cancellation = new CancellationTokenSource();
            var clock = Stopwatch.StartNew();
            var running = begin(pair, cancellation.Token);
            cancellation.CancelAfter(Timeout);
            var ended = ((IAsyncResult)running).AsyncWaitHandle.WaitOne(Pair.Patience);
            least = Math.Min(least, clock.ElapsedMilliseconds);
            Assert.True(ended, "the operation goes on");
            Assert.True(running.IsCanceled || (mayFit && running.IsCompletedSuccessfully), $"{running.Status}: {running.Exception?.InnerException}");
        }
        Assert.InRange(least, 0, allowed);
    }

    private static ReadOnlyMemory<byte> MuchFor(Pair pair) =>
        s_much.AsMemory(0, pair.Address.StartsWith("shm-event", StringComparison.Ordinal) ? MuchInOneBlock : Much);

    private static async Task Answer(Pair pair, Func<IpcChannel, ValueTask> answer)
    {
        Assert.Equal(IpcStatus.TimedOut, Pair.StatusOf(() => pair.Client.Call([1], [], 0)));
        pair.Server.ReceiveRequest(Pair.Patience);
        await answer(pair.Server);
    }
}
