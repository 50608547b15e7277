using Google.Protobuf;

namespace Ipc.Codecs.Messages
{
    // The generated messages count exchanges as the domain objects do.
    public sealed partial class Request : ISequenced
    {
        // As new, with the memory of its containers; also without what it did not know of the last message.
        internal void Empty()
        {
            (Sequence, Name, _unknownFields) = (0, "", null);
            Ids.Clear();
            Fields.Clear();
        }
    }

    public sealed partial class Reply : ISequenced
    {
        // As new, with the memory of its containers; also without what it did not know of the last message.
        internal void Empty()
        {
            (Sequence, Columns, _unknownFields) = (0, 0, null);
            Cells.Clear();
        }
    }
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
        public Messages.Request DecodeRequest(ReadOnlySpan<byte> bytes) => Check(Decode(s_requests, bytes, "request"), bytes);

        /// <inheritdoc/>
        public Messages.Reply DecodeReply(ReadOnlySpan<byte> bytes) => Check(Decode(s_replies, bytes, "reply"), bytes);

        /// <summary>Fills a message that was used before; after a refusal its content is unspecified.</summary>
        public static void DecodeInto(ReadOnlySpan<byte> bytes, Messages.Request request)
        {
            request.Empty();
            Merge(request, bytes, "request");
            Check(request, bytes);
        }

        /// <summary>Fills a message that was used before; after a refusal its content is unspecified.</summary>
        public static void DecodeInto(ReadOnlySpan<byte> bytes, Messages.Reply reply)
        {
            reply.Empty();
            Merge(reply, bytes, "reply");
            Check(reply, bytes);
        }

        private static Messages.Request Check(Messages.Request request, ReadOnlySpan<byte> bytes)
        {
            if (request.Name.Contains(ProtobufTexts.Replacement)
                || ProtobufTexts.AnyReplaced(request.Ids) || ProtobufTexts.AnyReplaced(request.Fields))
                ProtobufTexts.Check(bytes, Messages.Request.Descriptor);
            return request;
        }

        private static Messages.Reply Check(Messages.Reply reply, ReadOnlySpan<byte> bytes)
        {
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
                throw Damaged(what, e);
            }
        }

        private static void Merge<TMessage>(TMessage message, ReadOnlySpan<byte> bytes, string what) where TMessage : IMessage<TMessage>
        {
            try
            {
                message.MergeFrom(bytes);
            }
            catch (InvalidProtocolBufferException e)
            {
                throw Damaged(what, e);
            }
        }

        private static CodecException Damaged(string what, InvalidProtocolBufferException e) => new(
            $"the protobuf {what} cannot be decoded: check that the peer sends it with codec protobuf or protobuf-direct ({e.Message})", e);
    }
}
