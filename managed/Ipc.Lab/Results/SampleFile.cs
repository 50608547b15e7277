using System.Buffers.Binary;
using System.IO.Compression;
using System.Runtime.InteropServices;
using Ipc.Lab.Running;

namespace Ipc.Lab.Results;

/// <summary>Raw samples: each operation's nanoseconds as little-endian u32, in order. Kept compressed (gzip) beside the results.</summary>
internal static class SampleFile
{
    private const long MostBytes = 1L << 30;

    /// <summary>What a peer wrote, or <see cref="PeerFailure"/> when it cannot be samples.</summary>
    public static uint[] ReadRaw(string path)
    {
        var file = new FileInfo(path);
        if (!file.Exists)
            throw new PeerFailure("WRONG_FIGURES", "the client wrote no samples");
        if (file.Length % sizeof(uint) != 0 || file.Length > MostBytes)
            throw new PeerFailure("WRONG_FIGURES", $"the client's samples have {file.Length} bytes, which is not a number of u32 below 1 GiB");
        return ToNumbers(File.ReadAllBytes(path));
    }

    public static void WriteCompressed(string path, uint[] samples)
    {
        using var file = new GZipStream(File.Create(path), CompressionLevel.Fastest);
        file.Write(ToBytes(samples));
    }

    /// <summary>Samples kept earlier; <see cref="InvalidDataException"/> if the file is damaged.</summary>
    public static uint[] ReadCompressed(string path)
    {
        using var file = new GZipStream(File.OpenRead(path), CompressionMode.Decompress);
        using var bytes = new MemoryStream();
        file.CopyTo(bytes);
        return ToNumbers(bytes.ToArray());
    }

    private static uint[] ToNumbers(byte[] bytes)
    {
        var numbers = MemoryMarshal.Cast<byte, uint>(bytes).ToArray();
        if (!BitConverter.IsLittleEndian)
            BinaryPrimitives.ReverseEndianness(numbers, numbers);
        return numbers;
    }

    private static ReadOnlySpan<byte> ToBytes(uint[] numbers)
    {
        if (BitConverter.IsLittleEndian)
            return MemoryMarshal.AsBytes<uint>(numbers);
        var reversed = new uint[numbers.Length];
        BinaryPrimitives.ReverseEndianness(numbers, reversed);
        return MemoryMarshal.AsBytes<uint>(reversed);
    }
}
