using System.Runtime.InteropServices;
using System.Text;

namespace Ipc.Tests;

/// <summary>The C# ring and the C++ one, each with its own mapping of one and the same file.</summary>
public sealed unsafe class RingTwinsTests
{
    // The C ABI by hand: this project knows nothing of the bound side.
    private static readonly nint s_library = NativeLibrary.Load(LibraryPath());
    private static readonly delegate* unmanaged<byte*, int, nint*, int> s_open =
        (delegate* unmanaged<byte*, int, nint*, int>)NativeLibrary.GetExport(s_library, "ipc_queue_open");
    private static readonly delegate* unmanaged<nint, byte*, nuint, int, int> s_enqueue =
        (delegate* unmanaged<nint, byte*, nuint, int, int>)NativeLibrary.GetExport(s_library, "ipc_queue_enqueue");
    private static readonly delegate* unmanaged<nint, byte*, nuint, nuint*, int, int> s_dequeue =
        (delegate* unmanaged<nint, byte*, nuint, nuint*, int, int>)NativeLibrary.GetExport(s_library, "ipc_queue_dequeue");
    private static readonly delegate* unmanaged<nint, void> s_free = (delegate* unmanaged<nint, void>)NativeLibrary.GetExport(s_library, "ipc_queue_free");

    private static string LibraryPath()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            var path = Path.Combine(folder.FullName, "build", "release", "lib", "libipc.so");
            if (File.Exists(Path.Combine(folder.FullName, "registry.json")))
                return File.Exists(path) ? path : throw new FileNotFoundException($"{path} is missing: build the native part first (scripts/native.sh)");
        }
        throw new DirectoryNotFoundException($"no source tree around {AppContext.BaseDirectory}");
    }

    private sealed class NativeRing : IDisposable
    {
        private readonly nint _handle;

        public NativeRing(string address)
        {
            nint handle = 0;
            fixed (byte* text = Encoding.UTF8.GetBytes(address + "\0"))
                Assert.Equal(0, s_open(text, Pair.Patience, &handle));
            _handle = handle;
        }

        public IpcStatus Enqueue(ReadOnlySpan<byte> message, int timeout = Pair.Patience)
        {
            fixed (byte* bytes = message)
                return (IpcStatus)s_enqueue(_handle, bytes, (nuint)message.Length, timeout);
        }

        public IpcStatus Dequeue(Span<byte> buffer, out int length, int timeout = Pair.Patience)
        {
            nuint got = 0;
            fixed (byte* bytes = buffer)
            {
                var status = (IpcStatus)s_dequeue(_handle, bytes, (nuint)buffer.Length, &got, timeout);
                length = (int)got;
                return status;
            }
        }

        public void Dispose() => s_free(_handle);
    }

    [Theory]
    [InlineData("fifo", true)]
    [InlineData("fifo", false)]
    [InlineData("lifo", true)]
    [InlineData("lifo", false)]
    public void EitherMakesTheRingAndBothUseIt(string order, bool nativeMakes)
    {
        var address = Pair.NewAddress("ring", $"blocks=4&block=300&order={order}");
        NativeRing? native = nativeMakes ? new NativeRing(address) : null;
        using var managed = ManagedIpc.OpenQueue(address + (nativeMakes ? "&max=10k" : ""));
        native ??= new NativeRing(address);
        using (native)
        {
            Assert.Equal(300, managed.MaxMessageLength);
            var buffer = new byte[400];
            for (var i = 0; i < 40; i++)
            {
                var message = Pair.Bytes(i * 7, i);
                managed.Enqueue(message, 0);
                Assert.Equal(IpcStatus.Ok, native.Dequeue(buffer, out var length, 0));
                Assert.Equal(message, buffer[..length]);
                Assert.Equal(IpcStatus.Ok, native.Enqueue(message, 0));
                Assert.Equal(message, buffer[..managed.Dequeue(buffer, 0)]);
            }
            for (byte i = 0; i < 4; i++)
                Assert.Equal(IpcStatus.Ok, i % 2 == 0 ? native.Enqueue([i], 0) : managed.TryEnqueue([i]) ? IpcStatus.Ok : IpcStatus.TimedOut);
            Assert.False(managed.TryEnqueue([9]));
            Assert.Equal(IpcStatus.TimedOut, native.Enqueue([9], 0));
            for (byte i = 0; i < 4; i++)
            {
                Assert.Equal(1, managed.Dequeue(buffer, 0));
                Assert.Equal(order == "fifo" ? i : 3 - i, buffer[0]);
            }
            Assert.Equal(IpcStatus.TimedOut, native.Dequeue(buffer, out _, 0));
        }
    }

    [Theory]
    [InlineData("adaptive")]
    [InlineData("block")]
    public void EachWakesTheOther(string wait)
    {
        const int Count = 3000;
        var address = Pair.NewAddress("ring", $"blocks=2&block=300&wait={wait}");
        using var managed = ManagedIpc.OpenQueue(address);
        using var native = new NativeRing(address);
        foreach (var nativeWrites in new[] { true, false })
        {
            var writing = Aside.Run(() =>
            {
                for (var i = 0; i < Count; i++)
                {
                    if (nativeWrites)
                        Assert.Equal(IpcStatus.Ok, native.Enqueue(BitConverter.GetBytes(i)));
                    else
                        managed.Enqueue(BitConverter.GetBytes(i), Pair.Patience);
                }
            });
            var buffer = new byte[300];
            for (var i = 0; i < Count; i++)
            {
                if (nativeWrites)
                    managed.Dequeue(buffer, Pair.Patience);
                else
                    Assert.Equal(IpcStatus.Ok, native.Dequeue(buffer, out _));
                Assert.Equal(i, BitConverter.ToInt32(buffer));
            }
            writing.Join();
        }
    }

    [Theory]
    [InlineData("fifo")]
    [InlineData("lifo")]
    public void TheNativeSideGetsPastADeadManagedOne(string order)
    {
        var address = Pair.NewAddress("ring", $"blocks=2&block=100&wait=block&order={order}");
        using var native = new NativeRing(address);
        using (var file = RingFile.Open(IpcAddress.Parse(address), new Deadline(Timeout.Infinite)))
        {
            var blocks = new RingBlocks(file.Memory, file.BlockCount, file.BlockBytes);
            Assert.Equal(RingClaim.Taken, order == "fifo" ? new RingFifo(blocks).ClaimWrite(file.Number, out _, out _) : new RingLifo(blocks)
                .ClaimWrite(file.Number, out _));
        }
        var buffer = new byte[100];
        Assert.Equal(IpcStatus.Ok, native.Enqueue([1]));
        Assert.Equal(IpcStatus.Ok, native.Enqueue([2]));
        Assert.Equal(IpcStatus.Ok, native.Dequeue(buffer, out _));
        Assert.Equal(IpcStatus.Ok, native.Dequeue(buffer, out _));
    }
}
