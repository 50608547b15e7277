using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Memory mapped into this process; unmapped when disposed, or when the collector finds it forgotten.</summary>
[SupportedOSPlatform("linux")]
internal sealed unsafe class MappedMemory : SafeHandle
{
    private readonly nuint _bytes;

    public MappedMemory(nint memory, ulong bytes) : base((nint)(-1), ownsHandle: true)
    {
        SetHandle(memory);
        _bytes = (nuint)bytes;
    }

    public byte* Pointer => (byte*)handle;
    public ulong Bytes => _bytes;
    public override bool IsInvalid => (nint)handle == -1;
    protected override bool ReleaseHandle() => Libc.Unmap((void*)handle, _bytes) == 0;
}

/// <summary>Nameless memory of zeros that can neither grow nor shrink, so that nobody who maps it can be killed by touching it.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe class SealedMemory
{
    private const int SizeSeals = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW;
    private const uint LargestNormalPage = 65536;

    public static Descriptor Create(ulong bytes) => Create(ref bytes, hugePages: false);

    /// <param name="bytes">Huge pages round them up.</param>
    /// <param name="hugePages">Whether the memory is to be in such.</param>
    public static Descriptor Create(ref ulong bytes, bool hugePages)
    {
        var file = hugePages ? CreateInHugePages(ref bytes) : Libc.CreateMemoryFile("ipc");
        if (Libc.SetSize(file, (long)bytes, out var error))
        {
            if (Libc.FileControl(file, Libc.F_ADD_SEALS, SizeSeals) == 0)
                return file;
            error = Libc.LastError;
        }
        var failure = Libc.Failure(IpcStatus.System, $"cannot make {bytes} bytes of shared memory", error);
        file.Dispose();
        throw failure;
    }

    /// <summary>The size of what a peer handed over; 0 if it is not sealed so.</summary>
    /// <param name="file">The memory.</param>
    /// <param name="sealsToo">Whether its seals must be sealed as well.</param>
    public static ulong BytesOf(Descriptor file, bool sealsToo = false)
    {
        var required = sealsToo ? SizeSeals | Libc.F_SEAL_SEAL : SizeSeals;
        var seals = Libc.FileControl(file, Libc.F_GET_SEALS, 0);
        return seals >= 0 && (seals & required) == required && Libc.GetStatus(file, out var status) ? status.Size : 0;
    }

    public static MappedMemory Map(Descriptor file, ulong bytes, bool writable) => new((nint)MapUnowned(file, bytes, writable), bytes);

    /// <summary>The same for a caller that unmaps the memory itself.</summary>
    public static byte* MapUnowned(Descriptor file, ulong bytes, bool writable)
    {
        MemoryOptions.CheckFits(bytes);
        var protection = writable ? Libc.PROT_READ | Libc.PROT_WRITE : Libc.PROT_READ;
        var memory = Libc.Map(null, (nuint)bytes, protection, Libc.MAP_SHARED, file, 0);
        return memory != -1 ? (byte*)memory : throw CannotMap(file, bytes);
    }

    /// <summary>The same in place of what is mapped at <paramref name="where"/>, at one stroke: who looks there meanwhile finds the old
    /// or the new.</summary>
    public static void MapOver(byte* where, Descriptor file, ulong bytes)
    {
        if (Libc.Map(where, (nuint)bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED | Libc.MAP_FIXED, file, 0) == -1)
            throw CannotMap(file, bytes);
    }

    /// <summary>Keeps everybody, this process included, from writing to the memory by anything but the mappings there are now, and
    /// gives a descriptor that is good for reading only.</summary>
    public static Descriptor FreezeWriters(Descriptor file)
    {
        // Kernels before 5.1 know no such seal; there the read-only descriptor alone has to do.
        if (Libc.FileControl(file, Libc.F_ADD_SEALS, Libc.F_SEAL_FUTURE_WRITE) != 0 && Libc.LastError != Libc.EINVAL)
            throw Libc.Failure(IpcStatus.System, "cannot seal shared memory against writing");
        SealSeals(file);
        var path = FormattableString.Invariant($"/proc/self/fd/{file.DangerousGetHandle()}");
        return Libc.Open(path, Libc.O_RDONLY) ?? throw Libc.Failure(IpcStatus.System, $"cannot open shared memory for readers by {path}");
    }

    /// <summary>From now on nobody can add a seal.</summary>
    public static void SealSeals(Descriptor file)
    {
        if (Libc.FileControl(file, Libc.F_ADD_SEALS, Libc.F_SEAL_SEAL) != 0)
            throw Libc.Failure(IpcStatus.System, "cannot seal shared memory");
    }

    private static Descriptor CreateInHugePages(ref ulong bytes)
    {
        try
        {
            var file = Libc.CreateMemoryFile("ipc", Libc.MFD_HUGETLB);
            if (Libc.GetStatus(file, out var status) && status.BlockSize > 0)
                bytes = (bytes + status.BlockSize - 1) / status.BlockSize * status.BlockSize;
            return file;
        }
        catch (IpcException)
        {
            throw MemoryOptions.NoHugePages(bytes, Libc.LastError);
        }
    }

    private static IpcException CannotMap(Descriptor file, ulong bytes)
    {
        var error = Libc.LastError;
        // Huge pages are not reserved before they are mapped.
        return Libc.GetStatus(file, out var status) && status.BlockSize > LargestNormalPage
            ? MemoryOptions.NoHugePages(bytes, error)
            : Libc.Failure(IpcStatus.System, $"cannot map {bytes} bytes of shared memory", error);
    }
}
