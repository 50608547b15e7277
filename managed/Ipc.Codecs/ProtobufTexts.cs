using Google.Protobuf.Collections;
using Google.Protobuf.Reflection;

namespace Ipc.Codecs;

/// <summary>Refuses texts that are not UTF-8. Protocol Buffers demand it and the C++ library does it; the C# library puts U+FFFD in place of what
/// it cannot read. So when a decoded text holds that character, the bytes are looked at: was it sent, or does it stand for damage?</summary>
internal static class ProtobufTexts
{
    public const char Replacement = '\ufffd';

    public static bool AnyReplaced(RepeatedField<string> texts)
    {
        for (var i = 0; i < texts.Count; i++)
        {
            if (texts[i].Contains(Replacement))
                return true;
        }
        return false;
    }

    /// <summary>Throws if a text field holds anything but UTF-8. The bytes have been parsed before: their lengths are right.</summary>
    public static void Check(ReadOnlySpan<byte> bytes, MessageDescriptor message)
    {
        while (!bytes.IsEmpty)
        {
            var tag = TakeVarint(ref bytes);
            var length = (tag & 7) switch
            {
                0 => LengthOfVarint(bytes),
                1 => sizeof(ulong),
                2 => (int)TakeVarint(ref bytes),
                5 => sizeof(uint),
                // Groups, which our messages do not have: the parser accepts them only as unknown fields.
                _ => 0,
            };
            var isText = (tag & 7) == 2 && message.FindFieldByNumber((int)(tag >> 3))?.FieldType == FieldType.String;
            if (isText && !Utf8Text.IsValid(bytes[..length]))
            {
                throw new CodecException(
                    $"the protobuf {message.Name} has a text that is not UTF-8: check that the peer sends it with codec protobuf or protobuf-direct");
            }
            bytes = bytes[length..];
        }
    }

    private static ulong TakeVarint(ref ReadOnlySpan<byte> bytes)
    {
        var length = LengthOfVarint(bytes);
        var value = 0UL;
        for (var i = length - 1; i >= 0; i--)
            value = (value << 7) | (bytes[i] & 0x7fu);
        bytes = bytes[length..];
        return value;
    }

    private static int LengthOfVarint(ReadOnlySpan<byte> bytes)
    {
        var length = 0;
        while (bytes[length++] >= 0x80) { }
        return length;
    }
}
