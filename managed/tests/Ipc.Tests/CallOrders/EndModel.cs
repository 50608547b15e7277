namespace Ipc.Tests.CallOrders;

/// <summary>A frame on its way, as the model knows it.</summary>
internal sealed record Frame(FrameKind Kind, uint Id, int Length, int Seed)
{
    public byte[] Bytes => Pair.Bytes(Length, Seed);
}

/// <summary>What one end of a channel is in, and what the library must therefore answer.</summary>
internal sealed class EndModel(IpcChannel channel, string name)
{
    public enum Held { Nothing, KeptReply, Message, ReplyInPlace, Request }

    public IpcChannel Channel { get; } = channel;
    public string Name { get; } = name;
    public EndModel Peer { get; set; } = null!;

    /// <summary>Frames that the peer has sent and this end has not consumed.</summary>
    public List<Frame> Incoming { get; } = [];
    public bool OneBlock { get; init; } // the transport holds one frame each way
    public bool Closed { get; set; }
    public bool Killed { get; set; } // its process, as far as the peer can tell; never used again
    public bool Stopped { get; set; } // in the middle of a frame; never used again
    public bool Unsure { get; set; } // two answers were right, and the model does not know which state each leaves; never used again
    public IpcStatus Broken { get; set; }
    public int Reserved { get; set; } = -1;
    public bool ReservedForReply { get; set; }
    public int ReservedSeed { get; set; }
    public Held Holding { get; set; }
    public Frame? InPlace { get; set; }
    public uint CallId { get; set; }

    /// <summary>Calls that were submitted and have not been told of.</summary>
    public List<uint> InFlight { get; } = [];

    /// <summary>Requests that this end has put off: their tokens, and their numbers in the model.</summary>
    public List<(ulong Token, uint Id)> Deferred { get; } = [];
    public ulong NewestToken { get; set; }
    public bool HasSent { get; private set; }

    public bool IsGone => Closed || Killed;
    public bool IsUsable => !Killed && !Stopped && !Unsure;

    /// <summary>Why any operation fails before it looks at anything else.</summary>
    public IpcStatus Refusal => Closed ? IpcStatus.Closed : Broken;

    /// <summary>A frame of this end's cannot be written now, because the one before it has not been consumed.</summary>
    public bool IsFull => OneBlock && Peer.Incoming.Count > 0;

    public void Push(Frame frame)
    {
        HasSent = true;
        Peer.Incoming.Add(frame);
    }

    /// <summary>Holding a message, a request or a reply in place: nothing else is received.</summary>
    public bool HoldsInPlace => Holding is Held.Message or Held.ReplyInPlace or Held.Request;

    /// <summary>Nothing but completions is received, or nothing at all.</summary>
    public bool ReceivesNothingElse => HoldsInPlace || InFlight.Count > 0;

    /// <summary>What a receiving function that wants such a frame finds: drops what is late, as it does, and breaks where it breaks.</summary>
    public IpcStatus Next(FrameKind wanted, out Frame? frame)
    {
        frame = null;
        if (Holding == Held.KeptReply)
            Holding = Held.Nothing;
        while (Incoming.Count > 0)
        {
            var next = Incoming[0];
            var answers = next.Kind is FrameKind.Reply or FrameKind.Fault;
            if (wanted == FrameKind.Reply ? answers && next.Id == CallId : next.Kind == wanted)
            {
                frame = next;
                return IpcStatus.Ok;
            }
            // Late: of a call that this end has given up.
            if (!answers || CallId == 0)
                return Broken = IpcStatus.NotOurProtocol;
            Incoming.RemoveAt(0);
        }
        return Peer.IsGone ? Broken = IpcStatus.PeerClosed : IpcStatus.TimedOut;
    }

    public void Consume()
    {
        Incoming.RemoveAt(0);
        Holding = Held.Nothing;
        InPlace = null;
    }

    public override string ToString() =>
        $"{Name}: {(Closed ? "closed " : "")}{(Killed ? "killed " : "")}{Broken} reserved {Reserved}, holding {Holding}, "
        + $"in flight [{string.Join(", ", InFlight)}], incoming [{string.Join(", ", Incoming.Select(f => $"{f.Kind} {f.Id} {f.Length}"))}]";
}
