using System.Runtime.ExceptionServices;

namespace Ipc.Peer;

/// <summary>Scenario `handler`: raw calls as those of `call`, answered by a handler that the library calls, as README's programs answer. Nothing of it
/// runs after its answer has gone. So it checks the request before, and the client waits for that, too. It reads the request where it lies, as a handler
/// of README does: to compare every byte takes the place of copying it.</summary>
internal sealed class RawHandler(RawPayloads payloads)
{
    // Reading what the thread has allocated takes some nanoseconds, for which the client would wait: only now and then.
    private const int CallsBetweenReadings = 256;

    private ExceptionDispatchInfo? _failure;
    private long _answered;

    /// <summary>What the serving thread had allocated at one of the last calls, before it learned that the client has closed.</summary>
    public long Allocated { get; private set; }

    public static void Play(Cell cell, Control control)
    {
        if (cell.TransportKind != "channel")
            throw Failure.BadCell("a transport of kind call has no other way to answer than by a handler: take scenario call");
        var payloads = new RawPayloads(cell.Workload, cell.Seed);
        if (cell.Role == "client")
        {
            Client.Run(cell, control, channel => new RawCall(channel, payloads));
            return;
        }
        payloads.Stamp(1);
        Server.RunHandler(cell, control, new RawHandler(payloads));
    }

    /// <summary>For <see cref="IpcChannel.Serve"/>.</summary>
    public void Answer(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        try
        {
            if (_answered % CallsBetweenReadings == 0)
                Allocated = RuntimeFacts.AllocatedBytesOfThread;
            Content.Check("request", request, payloads.Request);
            payloads.Reply.CopyTo(reply.Reserve(payloads.Reply.Length));
            _answered++;
            // Not right before they are read: a processor stands still until such bytes have left its queue of stores.
            payloads.Stamp((ulong)_answered + 1);
        }
        catch (Exception e)
        {
            _failure = ExceptionDispatchInfo.Capture(e);
            throw; // fails the call with the same words
        }
    }

    /// <summary>So many calls; throws what failed one.</summary>
    public long Answered()
    {
        _failure?.Throw();
        return _answered;
    }
}
