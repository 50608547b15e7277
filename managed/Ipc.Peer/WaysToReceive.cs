using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>What Protocol Buffers offer a receiver in C#: new messages each time, which is the plain way, or the same ones emptied and filled again, whose
/// containers then keep their memory. Strings are new in either case, because nothing can change one.</summary>
internal sealed class WaysToReceive
{
    private readonly MessageBuffer _request = new();
    private readonly MessageBuffer _reply = new();
    private readonly Codecs.Messages.Request _keptRequest = new();
    private readonly Codecs.Messages.Reply _keptReply = new();

    public WaysToReceive(Cell cell)
    {
        default(ProtobufDirectCodec).EncodeRequest(default(MessageAccess).BuildRequest(PayloadData.Request(cell.Seed, cell.Workload.N)), _request);
        default(ProtobufDirectCodec).EncodeReply(default(MessageAccess).BuildReply(PayloadData.Reply(cell.Seed, cell.Workload.N)), _reply);
    }

    public void Fresh()
    {
        _ = default(ProtobufDirectCodec).DecodeRequest(_request.Written);
        _ = default(ProtobufDirectCodec).DecodeReply(_reply.Written);
    }

    public void Reused()
    {
        ProtobufDirectCodec.DecodeInto(_request.Written, _keptRequest);
        ProtobufDirectCodec.DecodeInto(_reply.Written, _keptReply);
    }
}
