using Google.Protobuf;

namespace Ipc.Codecs.Messages
{
    // The generated messages count exchanges as the domain objects do.
    public sealed partial class Request : ISequenced;
    public sealed partial class Reply : ISequenced;
}

namespace Ipc.Codecs
{
    /// <summary>Protocol Buffers messages (proto/ipc.proto) used as the program's objects.</summary>
    public readonly struct ProtobufDirectCodec : ICodec<Messages.Request, Messages.Reply>
    {
        // What other versions of the messages may carry is skipped rather than kept.
        private static readonly MessageParser<Messages.Request> s_requests = Messages.Request.Parser.WithDiscardUnknownFields(true);
        private static readonly MessageParser<Messages.Reply> s_replies = Messages.Reply.Parser.WithDiscardUnknownFields(true);

        /// <inheritdoc/>
        public void EncodeRequest(Messages.Request request, MessageBuffer buffer) => Encode(request, buffer);
        /// <inheritdoc/>
        public void EncodeReply(Messages.Reply reply, MessageBuffer buffer) => Encode(reply, buffer);
        /// <inheritdoc/>
        public Messages.Request DecodeRequest(ReadOnlySpan<byte> bytes)
        {
            var request = Decode(s_requests, bytes, "request");
            if (request.Name.Contains(ProtobufTexts.Replacement)
                || ProtobufTexts.AnyReplaced(request.Ids) || ProtobufTexts.AnyReplaced(request.Fields))
                ProtobufTexts.Check(bytes, Messages.Request.Descriptor);
            return request;
        }

        /// <inheritdoc/>
        public Messages.Reply DecodeReply(ReadOnlySpan<byte> bytes)
        {
            var reply = Decode(s_replies, bytes, "reply");
            if (ProtobufTexts.AnyReplaced(reply.Cells))
                ProtobufTexts.Check(bytes, Messages.Reply.Descriptor);
            return reply;
        }

        private static void Encode<TMessage>(TMessage message, MessageBuffer buffer) where TMessage : IMessage<TMessage>
        {
            var size = message.CalculateSize();
            message.WriteTo(buffer.GetSpan(size)[..size]);
            buffer.Advance(size);
        }

        private static TMessage Decode<TMessage>(MessageParser<TMessage> parser, ReadOnlySpan<byte> bytes, string what)
            where TMessage : IMessage<TMessage>
        {
            try
            {
                return parser.ParseFrom(bytes);
            }
            catch (InvalidProtocolBufferException e)
            {
                throw new CodecException(
                    $"the protobuf {what} cannot be decoded: check that the peer sends it with codec protobuf or protobuf-direct ({e.Message})", e);
            }
        }
    }
}
