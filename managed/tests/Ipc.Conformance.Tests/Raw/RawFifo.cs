using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Ipc.Conformance.Raw;

/// <summary>The FIFO handshake of docs/wire-formats.md, by hand, from both ends.</summary>
internal static partial class RawFifo
{
    private const uint RecordMagic = 0x46435049;
    private const int RecordSize = 48;
    private const byte Ready = 0x06;

    /// <summary>Connects as a client.</summary>
    public static async Task<RawConnection> Connect(string name)
    {
        var handshakeFifo = Names.PathOf("fifo", name);
        var token = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
        var (up, down) = ($"{handshakeFifo}.{token}.up", $"{handshakeFifo}.{token}.down");
        Make(up);
        Make(down);
        try
        {
            // Opened for reading and writing, because that never waits for the other end.
            var input = Open(down, FileAccess.ReadWrite);
            await using (var record = Open(handshakeFifo, FileAccess.Write))
                await record.WriteAsync(Record(token));
            await Expect(input);
            // From now on the peer's end shows, because only the peer has it open for writing.
            var reading = Open(down, FileAccess.Read);
            input.Dispose();
            var output = Open(up, FileAccess.Write);
            output.WriteByte(Ready);
            return new RawConnection(reading, output);
        }
        finally
        {
            File.Delete(up);
            File.Delete(down);
        }
    }

    /// <summary>The server's end: the FIFO where clients leave their records.</summary>
    public sealed class Handshake : IDisposable
    {
        private readonly string _path;
        private readonly FileStream _records;

        public Handshake(string name)
        {
            _path = Names.PathOf("fifo", name);
            Make(_path);
            _records = Open(_path, FileAccess.ReadWrite);
        }

        public async Task<RawConnection> Accept()
        {
            var record = new byte[RecordSize];
            await _records.ReadExactlyAsync(record).AsTask().WaitAsync(TimeSpan.FromSeconds(5));
            var token = Encoding.ASCII.GetString(record, 8, 32);
            var output = Open($"{_path}.{token}.down", FileAccess.Write);
            // The client opens its end only once it has the byte, and then removes the names: for writing too, not to wait for it.
            var input = Open($"{_path}.{token}.up", FileAccess.ReadWrite);
            output.WriteByte(Ready);
            await Expect(input);
            return new RawConnection(input, output);
        }

        public void Dispose()
        {
            _records.Dispose();
            File.Delete(_path);
        }
    }

    private static byte[] Record(string token)
    {
        var record = new byte[RecordSize];
        BinaryPrimitives.WriteUInt32LittleEndian(record, RecordMagic);
        BinaryPrimitives.WriteUInt32LittleEndian(record.AsSpan(4), 1);
        Encoding.ASCII.GetBytes(token, record.AsSpan(8));
        return record;
    }

    private static async Task Expect(Stream input)
    {
        var one = new byte[1];
        await input.ReadExactlyAsync(one).AsTask().WaitAsync(TimeSpan.FromSeconds(5));
        if (one[0] != Ready)
            throw new InvalidDataException($"the FIFO handshake gave byte {one[0]} instead of {Ready}");
    }

    // Without a buffer: what is written is sent, and what is read is what was asked for.
    private static FileStream Open(string path, FileAccess access) =>
        new(File.OpenHandle(path, FileMode.Open, access, FileShare.ReadWrite | FileShare.Delete), access, bufferSize: 0);

    private static void Make(string path)
    {
        if (MakeFifo(path, 0b110_000_000) != 0)
            throw new IOException($"cannot make the FIFO {path}: {Marshal.GetLastPInvokeErrorMessage()}");
    }

    [LibraryImport("libc", EntryPoint = "mkfifo", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int MakeFifo(string path, uint mode);
}
