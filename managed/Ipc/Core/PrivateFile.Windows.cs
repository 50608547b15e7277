using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Security.Cryptography;

namespace Ipc;

/// <summary>A file that several processes of this user map, docs/wire-formats.md "Files on Windows". All stand in %LOCALAPPDATA%\ipc,
/// which belongs to this user and which nobody else may open. Twin of native/src/win32/private_files.cpp.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class PrivateFile
{
    private const string NewSuffix = ".new", GoneSuffix = ".gone-";

    // A holder needs the lock for some 10 ms; who has it for this long is stopped or stuck.
    private const int LockPatienceMilliseconds = 5000;

    private readonly string _folder;
    private readonly string _name;

    /// <summary>Checks the name, and makes or checks the folder. The prefix ends with '-'.</summary>
    public PrivateFile(IpcAddress address, string prefix)
    {
        PlainName.Check(address);
        Address = address.ToString();
        _name = prefix + address.Name;
        var root = Environment.GetEnvironmentVariable("LOCALAPPDATA");
        if (string.IsNullOrEmpty(root))
            throw new IpcException(IpcStatus.NotAvailable, "this user has no folder for such files: the variable LOCALAPPDATA does not say");
        _folder = root + @"\ipc";
        if (!Win32.MakeFolder(_folder) && Win32.LastError != Win32.ERROR_ALREADY_EXISTS)
            throw Win32.Failure(IpcStatus.System, $"cannot make the folder {_folder}", Win32.LastError);
        CheckFolder();
    }

    /// <summary>For error messages.</summary>
    public string Address { get; }

    public string Path => $@"{_folder}\{_name}";

    /// <summary>Whoever opens, makes or removes one of these files holds this meanwhile.</summary>
    public Win32Handle LockFolder() => LockFolder(new Deadline(Timeout.Infinite));

    /// <summary>The same for a call with a time-out, which it does not outlast.</summary>
    public Win32Handle LockFolder(Deadline deadline)
    {
        var path = _folder + @"\lock";
        var file = Win32.OpenFile(path, Win32.GENERIC_READ | Win32.GENERIC_WRITE, Win32.FILE_SHARE_READ_WRITE, Win32.OPEN_ALWAYS,
            Win32.FILE_FLAG_OPEN_REPARSE_POINT);
        if (file is null)
            throw Win32.Failure(IpcStatus.System, $"cannot open {path}", Win32.LastError);
        var end = new Deadline(LockPatienceMilliseconds);
        while (true)
        {
            NativeOverlapped place = default;
            if (Win32.LockFileEx(file, Win32.LOCKFILE_EXCLUSIVE_LOCK | Win32.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0)
                return file;
            var error = Win32.LastError;
            if (IsTaken(error) && !end.Expired && !deadline.Expired)
            {
                Thread.Sleep(1);
                continue;
            }
            file.Dispose();
            if (!IsTaken(error))
                throw Win32.Failure(IpcStatus.System, $"cannot lock {path}", error);
            throw end.Expired
                ? new IpcException(IpcStatus.System,
                    $"another process has kept {path} locked for {LockPatienceMilliseconds / 1000} s: find the one that has it open and end it")
                : new IpcException(IpcStatus.TimedOut, $"the time-out passed while another process kept {path} locked");
        }
    }

    /// <summary>What stands at the name; null if nothing does.</summary>
    public Win32Handle? Open()
    {
        var file = Win32.OpenFile(Path, Win32.GENERIC_READ | Win32.GENERIC_WRITE | Win32.DELETE | Win32.READ_CONTROL, Win32.FILE_SHARE_ALL, Win32.OPEN_EXISTING,
            Win32.FILE_FLAG_OPEN_REPARSE_POINT);
        if (file is null)
        {
            return Win32.LastError == Win32.ERROR_FILE_NOT_FOUND
                ? null
                : throw Win32.Failure(IpcStatus.NoPermission, $"cannot open {Path} for {Address}", Win32.LastError);
        }
        Win32.FileInformation about;
        if (Win32.GetFileInformationByHandle(file, &about) != 0 &&
            (about.Attributes & (Win32.FILE_ATTRIBUTE_DIRECTORY | Win32.FILE_ATTRIBUTE_REPARSE_POINT)) == 0 && Win32.OwnerOf(file) == Win32.ThisUser)
            return file;
        file.Dispose();
        throw new IpcException(IpcStatus.NoPermission, $"what stands at {Path} for {Address} is not a file of this user: remove it");
    }

    /// <summary>A file of so many zeros without its name, which <see cref="Name"/> gives it. Takes its room on the disk. Under the
    /// folder's lock, so that there is one at a time: one that a killed process left is overwritten.</summary>
    public Win32Handle Make(ulong bytes)
    {
        var path = Path + NewSuffix;
        var made = Win32.OpenFile(path, Win32.GENERIC_READ | Win32.GENERIC_WRITE | Win32.DELETE | Win32.READ_CONTROL, Win32.FILE_SHARE_ALL, Win32.CREATE_ALWAYS,
            Win32.FILE_ATTRIBUTE_TEMPORARY | Win32.FILE_FLAG_OPEN_REPARSE_POINT) ??
            throw Win32.Failure(IpcStatus.System, $"cannot make {path} for {Address}", Win32.LastError);
        var end = (long)bytes;
        if (Win32.SetFileInformationByHandle(made, Win32.FileEndOfFileInfo, &end, sizeof(long)) != 0)
            return made;
        var error = Win32.LastError;
        made.Dispose();
        _ = Win32.DeleteFile(path);
        throw Win32.Failure(error == Win32.ERROR_DISK_FULL ? IpcStatus.OutOfMemory : IpcStatus.System,
            $"cannot take {bytes} bytes in {_folder} for {Address}", error);
    }

    /// <summary>Gives a complete file its name.</summary>
    public void Name(Win32Handle made)
    {
        if (!Rename(made, Path))
            throw Win32.Failure(IpcStatus.System, $"cannot give the new file its name {Path}", Win32.LastError);
    }

    /// <summary>Takes the name from an open file, which those who have it open keep. What cannot be deleted because somebody maps it gets
    /// another name, and goes when the last of them calls <see cref="Sweep"/>.</summary>
    public void Remove(Win32Handle opened)
    {
        if (!Rename(opened, Path + GoneSuffix + RandomNumberGenerator.GetHexString(16, lowercase: true)))
            throw Win32.Failure(IpcStatus.System, $"cannot remove {Path}", Win32.LastError);
    }

    /// <summary>Deletes what was removed and is mapped by nobody any more.</summary>
    public void Sweep()
    {
        foreach (var path in Directory.EnumerateFiles(_folder, _name + GoneSuffix + "*"))
            _ = Win32.DeleteFile(path);
    }

    /// <summary>Maps all of a file; unmapped by <see cref="SharedMemoryPeer.Unmap"/>.</summary>
    public byte* Map(Win32Handle opened, ulong bytes)
    {
        // A mapped file can neither be truncated nor deleted: nobody can be ended by touching it.
        using var section = Win32.CreateSection(opened.DangerousGetHandle(), Win32.PAGE_READWRITE, bytes);
        var view = section is null ? null : Win32.MapViewOfFile(section, Win32.FILE_MAP_READ | Win32.FILE_MAP_WRITE, 0, 0, (nuint)bytes);
        if (view != null)
            return (byte*)view;
        var error = Win32.LastError;
        throw Win32.Failure(error is Win32.ERROR_NOT_ENOUGH_MEMORY or Win32.ERROR_COMMITMENT_LIMIT ? IpcStatus.OutOfMemory : IpcStatus.System,
            $"cannot map the {bytes} bytes of {Path}", error);
    }

    /// <summary>How long a file is; 0 if that cannot be known.</summary>
    public static ulong BytesOf(Win32Handle file)
    {
        long size;
        return Win32.GetFileSizeEx(file, &size) != 0 ? (ulong)size : 0;
    }

    /// <summary>The first bytes of a file. False when it has fewer.</summary>
    public static bool ReadBeginning(Win32Handle file, byte* to, uint length)
    {
        NativeOverlapped beginning = default;
        uint got = 0;
        return Win32.ReadFile(file, to, length, &got, &beginning) != 0 && got == length;
    }

    /// <summary>Writes the first bytes of a file. False with <see cref="Win32.LastError"/> set.</summary>
    public static bool WriteBeginning(Win32Handle file, byte* from, uint length)
    {
        NativeOverlapped beginning = default;
        uint written = 0;
        return Win32.WriteFile(file, from, length, &written, &beginning) != 0 && written == length;
    }

    /// <summary>Locks that belong to the open file and that the system drops when its process ends, however it ends. Number n is the byte
    /// at 2^32 + n, where no file reaches: these locks would keep others from reading it. False with <see cref="Win32.LastError"/>
    /// set.</summary>
    public static bool TryLockNumber(Win32Handle file, uint number)
    {
        var place = AtNumber(number);
        return Win32.LockFileEx(file, Win32.LOCKFILE_EXCLUSIVE_LOCK | Win32.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place) != 0;
    }

    /// <summary>Whether <see cref="TryLockNumber"/> failed because another has the lock.</summary>
    public static bool IsTaken(int error) => error is Win32.ERROR_LOCK_VIOLATION or Win32.ERROR_IO_PENDING;

    /// <summary>Whether another open file has one of these; true also when the system does not say.</summary>
    public static bool AreNumbersLocked(Win32Handle file, uint first, uint count)
    {
        // Shared, so that two who ask at once do not take each other for the living.
        var place = AtNumber(first);
        if (Win32.LockFileEx(file, Win32.LOCKFILE_FAIL_IMMEDIATELY, 0, count, 0, &place) == 0)
            return true;
        place = AtNumber(first);
        _ = Win32.UnlockFileEx(file, 0, count, 0, &place);
        return false;
    }

    private static NativeOverlapped AtNumber(uint number) => new() { OffsetHigh = 1, OffsetLow = (int)number };

    private static bool Rename(Win32Handle file, string path)
    {
        // FILE_RENAME_INFO: whether to replace (padded to a pointer), a folder's handle, bytes of the name (u32), the name.
        var nameAt = (2 * sizeof(nint)) + sizeof(uint);
        var length = nameAt + (path.Length * sizeof(char));
        var request = (byte*)NativeMemory.AllocZeroed((nuint)length + 8);
        try
        {
            *(uint*)(request + (2 * sizeof(nint))) = (uint)(path.Length * sizeof(char));
            path.CopyTo(new Span<char>(request + nameAt, path.Length));
            return Win32.SetFileInformationByHandle(file, Win32.FileRenameInfo, request, (uint)length + 4) != 0;
        }
        finally
        {
            NativeMemory.Free(request);
        }
    }

    private void CheckFolder()
    {
        using var folder = Win32.OpenFile(_folder, Win32.READ_CONTROL | Win32.FILE_READ_ATTRIBUTES, Win32.FILE_SHARE_ALL, Win32.OPEN_EXISTING,
            Win32.FILE_FLAG_BACKUP_SEMANTICS | Win32.FILE_FLAG_OPEN_REPARSE_POINT);
        Win32.FileInformation about;
        if (folder is null || Win32.GetFileInformationByHandle(folder, &about) == 0)
            throw Win32.Failure(IpcStatus.NoPermission, $"cannot open the folder {_folder}", Win32.LastError);
        const uint Kind = Win32.FILE_ATTRIBUTE_DIRECTORY | Win32.FILE_ATTRIBUTE_REPARSE_POINT;
        if ((about.Attributes & Kind) != Win32.FILE_ATTRIBUTE_DIRECTORY || !Win32.IsOnlyForThisUser(folder))
        {
            throw new IpcException(IpcStatus.NoPermission,
                $"{_folder} is not a folder that only this user may open: remove it, it is created again when it is needed");
        }
    }
}
