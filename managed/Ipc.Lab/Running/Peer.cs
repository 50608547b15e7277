using System.Text.Json;
using System.Threading.Channels;
using Ipc.Lab.Machine;

namespace Ipc.Lab.Running;

/// <summary>A running peer, spoken to as docs/peer-protocol.md says. One caller at a time.</summary>
internal sealed class Peer : IAsyncDisposable
{
    // More events than any session has; a peer that writes without end is cut off.
    private const int MostEvents = 1000;

    private readonly ChildProcess _process;
    private readonly string _lastEvent;
    private readonly Channel<PeerEvent> _events = System.Threading.Channels.Channel.CreateUnbounded<PeerEvent>();
    private readonly List<PeerEvent> _early = [];
    private readonly TaskCompletionSource<PeerFailure> _failure = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Starts a peer.</summary>
    /// <param name="who">What failures call it: server, client or process.</param>
    /// <param name="lastEvent">The event after which its end is in order.</param>
    public Peer(ProgramFile program, string who, string lastEvent)
    {
        Who = who;
        _lastEvent = lastEvent;
        _process = ChildProcess.Start(program, []);
        _process.OutputRead = PumpAsync();
    }

    public string Who { get; }

    public int ProcessId => _process.Id;

    /// <summary>Ends, with the reason, when the peer reports a failure, breaks the protocol or ends too early.</summary>
    public Task<PeerFailure> Failure => _failure.Task;

    /// <summary>What the peer said of itself, once it has.</summary>
    public PeerEnvironment? Environment { get; private set; }

    public Task SendAsync<T>(T message) => _process.SendAsync(JsonSerializer.Serialize(message, LabJson.Line));

    /// <summary>The first event with one of these names, now or within the bound; others are kept for later.
    /// Throws <see cref="PeerFailure"/> when the peer fails or hangs, <see cref="OperationCanceledException"/> when asked to stop.</summary>
    public async Task<PeerEvent> ExpectAsync(TimeSpan bound, CancellationToken stop, params string[] names)
    {
        if (_early.FirstOrDefault(e => names.Contains(e.Name)) is { } early)
        {
            _early.Remove(early);
            return early;
        }
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(stop);
        limit.CancelAfter(bound);
        try
        {
            while (true)
            {
                var next = await _events.Reader.ReadAsync(limit.Token).ConfigureAwait(false);
                if (names.Contains(next.Name))
                    return next;
                _early.Add(next);
            }
        }
        catch (ChannelClosedException)
        {
            throw Failure.IsCompleted ? await Failure.ConfigureAwait(false) : EndedBefore(string.Join(" or ", names));
        }
        catch (OperationCanceledException) when (!stop.IsCancellationRequested)
        {
            throw new PeerFailure("HUNG", $"the {Who} did not say '{string.Join("' or '", names)}' within {bound.TotalSeconds:0.#} s and was killed");
        }
    }

    public async Task<Usage> UsageAsync(TimeSpan bound, CancellationToken stop)
    {
        await SendAsync(PeerCommand.Usage).ConfigureAwait(false);
        var answer = await ExpectAsync(bound, stop, "usage").ConfigureAwait(false);
        return answer.As<Usage>(Who);
    }

    public async Task<RuntimeState> RuntimeAsync(TimeSpan bound, CancellationToken stop)
    {
        await SendAsync(PeerCommand.Runtime).ConfigureAwait(false);
        return (await ExpectAsync(bound, stop, "runtime").ConfigureAwait(false)).As<RuntimeState>(Who);
    }

    /// <summary>Ends the peer's input and waits for exit code 0; anything else is a failure.</summary>
    public async Task EndAsync(TimeSpan bound)
    {
        _process.CloseInput();
        switch (await _process.WaitAsync(bound).ConfigureAwait(false))
        {
            case null:
                throw new PeerFailure("HUNG", $"the {Who} was still running {bound.TotalSeconds:0.#} s after its work was done and was killed");
            case 0:
                return;
            case { } code:
                throw new PeerFailure("ENDED_BADLY", $"the {Who} ended with exit code {code} after its work was done{_process.LastWords()}");
        }
    }

    /// <summary>Kills the process, which is to be gone when this returns. Whether it may end now, the last event it was to say has decided.</summary>
    public async Task KillAsync(TimeSpan bound)
    {
        _process.Kill();
        if (await _process.WaitAsync(bound).ConfigureAwait(false) is null)
            throw new PeerFailure("HUNG", $"the {Who} was still running {bound.TotalSeconds:0.#} s after it was killed");
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();

    private async Task PumpAsync()
    {
        try
        {
            await ReadEventsAsync().ConfigureAwait(false);
        }
        catch (PeerFailure failure)
        {
            _failure.TrySetResult(failure);
        }
        catch (Exception e) when (e is IOException or InvalidDataException or ObjectDisposedException)
        {
            _failure.TrySetResult(new PeerFailure("NOT_THE_PROTOCOL", $"the {Who} cannot be understood: {ErrorMessage.Of(e)}"));
        }
        _events.Writer.TryComplete();
    }

    private async Task ReadEventsAsync()
    {
        var reader = new BoundedLineReader(_process.Output);
        var finished = false;
        for (var count = 0; await reader.ReadAsync().ConfigureAwait(false) is { } line; count++)
        {
            if (line.Length == 0)
                continue;
            var next = PeerEvent.Parse(line, Who);
            if (count == MostEvents)
                throw new PeerFailure("NOT_THE_PROTOCOL", $"the {Who} wrote more than {MostEvents} events");
            if (next.Name == "failed")
                throw new PeerFailure(next.Text("status") ?? "FAILED", $"the {Who} says: {ReasonOf(next)}");
            if (next.Name == "environment")
                Environment = next.ToEnvironment();
            else
                _events.Writer.TryWrite(next);
            finished |= next.Name == _lastEvent;
        }
        if (!finished)
        {
            var code = await _process.WaitAsync(TimeSpan.FromSeconds(1)).ConfigureAwait(false);
            throw new PeerFailure("ENDED_EARLY",
                $"the {Who} ended {(code is null ? "its output" : $"with exit code {code}")} before '{_lastEvent}'{_process.LastWords()}");
        }
    }

    private static string ReasonOf(PeerEvent failed) =>
        failed.Text("reason") is { Length: > 0 } reason ? ErrorMessage.OneLine(reason) : "(no reason given)";

    private PeerFailure EndedBefore(string names) => new("ENDED_EARLY", $"the {Who} ended without saying '{names}'{_process.LastWords()}");
}
