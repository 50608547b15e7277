using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Nameless memory of zeros as Windows has it: a section on the page file, which nobody can open who was not given a handle
/// and which never changes its size. Twin of <see cref="SealedMemory"/>.</summary>
[SupportedOSPlatform("windows")]
internal static unsafe class Section
{
    /// <param name="bytes">Huge pages round them up.</param>
    /// <param name="hugePages">Whether the memory is to be in such.</param>
    public static Win32Handle Create(ref ulong bytes, bool hugePages)
    {
        var kind = Win32.PAGE_READWRITE | Win32.SEC_COMMIT;
        if (hugePages)
        {
            var page = Win32.GetLargePageMinimum();
            if (page == 0)
                throw NoHugePages(bytes, "this machine has none");
            if (!Win32.MayLockMemory())
            {
                throw NoHugePages(bytes,
                    "give this user the right 'Lock pages in memory' (secpol.msc, Local Policies, User Rights Assignment) and log on again");
            }
            bytes = (bytes + page - 1) / page * page;
            kind |= Win32.SEC_LARGE_PAGES;
        }
        if (Win32.CreateSection(-1, kind, bytes) is { } section)
            return section;
        var error = Win32.LastError;
        if (hugePages)
            throw Win32.Failure(IpcStatus.NotAvailable, $"cannot have {bytes} bytes in huge pages; restart, or leave pages=huge out", error);
        throw Win32.Failure(error == Win32.ERROR_COMMITMENT_LIMIT ? IpcStatus.OutOfMemory : IpcStatus.System,
            $"cannot make {bytes} bytes of shared memory", error);
    }

    /// <summary>The size of what a peer handed over; 0 if it is no section all of which has memory of the system's behind it, and
    /// <see cref="ulong.MaxValue"/> if it is more than this process can map.</summary>
    public static ulong BytesOf(Win32Handle section)
    {
        // Of a view of all of it the system tells how much it really is.
        var view = View(section, 0);
        if (view == null)
        {
            // A section of which only a part can be mapped is too large for this process.
            var part = View(section, 1);
            if (part == null)
                return 0;
            _ = Win32.UnmapViewOfFile(part);
            return ulong.MaxValue;
        }
        var bytes = Win32.BytesOfSoundView(view);
        _ = Win32.UnmapViewOfFile(view);
        return bytes;
    }

    /// <summary>For a caller that unmaps the memory itself.</summary>
    public static byte* Map(Win32Handle section, ulong bytes)
    {
        MemoryOptions.CheckFits(bytes);
        var view = View(section, (nuint)bytes);
        return view != null ? (byte*)view : throw Win32.Failure(IpcStatus.System, $"cannot map {bytes} bytes of shared memory", Win32.LastError);
    }

    // 0 bytes: all of it. Large pages want to be asked for in so many words; whoever was handed the section does not know of them.
    private static void* View(Win32Handle section, nuint bytes)
    {
        const uint Access = Win32.FILE_MAP_READ | Win32.FILE_MAP_WRITE;
        var view = Win32.MapViewOfFile(section, Access, 0, 0, bytes);
        return view != null ? view : Win32.MapViewOfFile(section, Access | Win32.FILE_MAP_LARGE_PAGES, 0, 0, bytes);
    }

    private static IpcException NoHugePages(ulong bytes, string why) =>
        new(IpcStatus.NotAvailable, $"cannot have {bytes} bytes in huge pages: {why}, or leave pages=huge out");
}
