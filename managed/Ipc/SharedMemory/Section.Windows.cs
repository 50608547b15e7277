using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Nameless memory of zeros as Windows has it: a section on the page file, which nobody can open who was not given a handle
/// and which never changes its size. Twin of <see cref="SealedMemory"/>.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class Section
{
    /// <param name="bytes">Huge pages round them up.</param>
    /// <param name="hugePages">Whether the memory is to be in such.</param>
    public static KernelHandle Create(ref ulong bytes, bool hugePages)
    {
        var kind = Win32SharedMemory.PAGE_READWRITE | Win32SharedMemory.SEC_COMMIT;
        if (hugePages)
        {
            var page = Win32SharedMemory.GetLargePageMinimum();
            if (page == 0)
                throw NoHugePages(bytes, "this machine has none");
            if (!Win32SharedMemory.MayLockMemory())
            {
                throw NoHugePages(bytes,
                    "give this user the right 'Lock pages in memory' (secpol.msc, Local Policies, User Rights Assignment) and log on again");
            }
            bytes = (bytes + page - 1) / page * page;
            kind |= Win32SharedMemory.SEC_LARGE_PAGES;
        }
        var section = Win32SharedMemory.CreateFileMapping(-1, null, kind, (uint)(bytes >> 32), (uint)bytes, null);
        if (!section.IsInvalid)
            return section;
        var error = Win32SharedMemory.LastError;
        if (hugePages)
            throw Win32SharedMemory.Failure(Status.NotAvailable, $"cannot have {bytes} bytes in huge pages; restart, or leave pages=huge out", error);
        throw Win32SharedMemory.Failure(error == Win32SharedMemory.ERROR_COMMITMENT_LIMIT ? Status.OutOfMemory : Status.System,
            $"cannot make {bytes} bytes of shared memory", error);
    }

    /// <summary>The size of what a peer handed over; 0 if it is no section all of which has memory of the system's behind it.</summary>
    public static ulong BytesOf(SafeHandle section)
    {
        // Of a view of all of it the system tells how much it really is.
        var view = Win32SharedMemory.MapViewOfFile(section, Win32SharedMemory.FILE_MAP_READ | Win32SharedMemory.FILE_MAP_WRITE, 0, 0, 0);
        if (view == null)
            return 0;
        try
        {
            const int NameSize = 8;
            var name = stackalloc char[NameSize];
            Win32SharedMemory.Region region;
            // Pages that are only reserved, or whose file's disk may fail, would end who touches them.
            return Win32SharedMemory.VirtualQuery(view, &region, (nuint)sizeof(Win32SharedMemory.Region)) == (nuint)sizeof(Win32SharedMemory.Region) &&
                   region is { State: Win32SharedMemory.MEM_COMMIT, Type: Win32SharedMemory.MEM_MAPPED, Protect: Win32SharedMemory.PAGE_READWRITE } &&
                   Win32SharedMemory.GetMappedFileName(Win32SharedMemory.GetCurrentProcess(), view, name, NameSize) == 0 &&
                   Win32SharedMemory.LastError != Win32SharedMemory.ERROR_INSUFFICIENT_BUFFER
                ? region.Size
                : 0;
        }
        finally
        {
            _ = Win32SharedMemory.UnmapViewOfFile(view);
        }
    }

    /// <summary>For a caller that unmaps the memory itself.</summary>
    public static byte* Map(SafeHandle section, ulong bytes)
    {
        const uint Access = Win32SharedMemory.FILE_MAP_READ | Win32SharedMemory.FILE_MAP_WRITE;
        var view = Win32SharedMemory.MapViewOfFile(section, Access, 0, 0, (nuint)bytes);
        // Large pages want to be asked for in so many words; whoever was handed the section does not know of them.
        if (view == null)
            view = Win32SharedMemory.MapViewOfFile(section, Access | Win32SharedMemory.FILE_MAP_LARGE_PAGES, 0, 0, (nuint)bytes);
        return view != null ? (byte*)view : throw Win32SharedMemory.Failure(Status.System, $"cannot map {bytes} bytes of shared memory");
    }

    private static IpcException NoHugePages(ulong bytes, string why) =>
        new(Status.NotAvailable, $"cannot have {bytes} bytes in huge pages: {why}, or leave pages=huge out");
}
