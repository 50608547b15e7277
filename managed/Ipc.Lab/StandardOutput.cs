using System.Text;

namespace Ipc.Lab;

/// <summary>Standard output could not be written: closed, or redirected to a full disk.</summary>
internal sealed class StandardOutputException(Exception why) : Exception(why.Message, why);

/// <summary>Standard output whose failures can be told from those of a run's files. A reader that has left is no failure: the console swallows it.</summary>
internal sealed class StandardOutput(Stream console) : Stream
{
    public override bool CanRead => false;
    public override bool CanSeek => false;
    public override bool CanWrite => true;
    public override long Length => throw new NotSupportedException();
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>From now on the console's writer is one of these.</summary>
    public static void Use()
    {
        var withoutMark = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false);
        var writer = new StreamWriter(new StandardOutput(Console.OpenStandardOutput()), withoutMark) { AutoFlush = true };
        Console.SetOut(TextWriter.Synchronized(writer));
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        try
        {
            console.Write(buffer);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StandardOutputException(e);
        }
    }

    public override void Flush()
    {
    }

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();
    public override void SetLength(long value) => throw new NotSupportedException();
}
