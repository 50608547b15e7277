namespace Ipc.Codecs;

/// <summary>The bytes are not what the codec writes, or it cannot write the object. The message says where and what to do.</summary>
public sealed class CodecException : Exception
{
    /// <summary>Creates one without a reason.</summary>
    public CodecException() : this("the bytes are not what this codec writes: check that both sides use the same codec") { }
    /// <summary>Creates one with its error message.</summary>
    public CodecException(string message) : base(message) { }
    /// <summary>Creates one with its error message and its cause.</summary>
    public CodecException(string message, Exception? inner) : base(message, inner) { }
}
