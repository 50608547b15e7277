using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>Files that several processes map.</summary>
internal static unsafe partial class Win32
{
    public const uint DELETE = 0x10000, READ_CONTROL = 0x20000, FILE_READ_ATTRIBUTES = 0x80, CREATE_ALWAYS = 2, OPEN_ALWAYS = 4;
    public const uint FILE_SHARE_READ_WRITE = 3, FILE_SHARE_ALL = 7, FILE_ATTRIBUTE_DIRECTORY = 0x10, FILE_ATTRIBUTE_TEMPORARY = 0x100,
        FILE_ATTRIBUTE_REPARSE_POINT = 0x400,
        FILE_FLAG_OPEN_REPARSE_POINT = 0x200000, FILE_FLAG_BACKUP_SEMANTICS = 0x2000000;
    public const uint LOCKFILE_FAIL_IMMEDIATELY = 1, LOCKFILE_EXCLUSIVE_LOCK = 2;
    public const int ERROR_LOCK_VIOLATION = 33, ERROR_DISK_FULL = 112, ERROR_ALREADY_EXISTS = 183;
    public const int FileRenameInfo = 3, FileDispositionInfo = 4, FileEndOfFileInfo = 6;

    private const uint DACL_SECURITY_INFORMATION = 4;
    private const int SE_FILE_OBJECT = 1;
    private const byte ACCESS_ALLOWED_ACE_TYPE = 0, ACCESS_DENIED_ACE_TYPE = 1;
    private const string LocalSystem = "S-1-5-18", Administrators = "S-1-5-32-544";

    /// <summary>BY_HANDLE_FILE_INFORMATION.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct FileInformation
    {
        public uint Attributes;
        public fixed uint Times[6];
        public uint Volume, SizeHigh, SizeLow, Links, IndexHigh, IndexLow;
    }

    [LibraryImport("kernel32", EntryPoint = "CreateDirectoryW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    private static partial int CreateDirectoryCall(string path, SecurityAttributes* security);
    [LibraryImport("kernel32", EntryPoint = "DeleteFileW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial int DeleteFile(string path);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetFileInformationByHandle(Win32Handle file, FileInformation* about);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int SetFileInformationByHandle(Win32Handle file, int what, void* information, uint length);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int GetFileSizeEx(Win32Handle file, long* size);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int LockFileEx(Win32Handle file, uint flags, uint reserved, uint low, uint high, NativeOverlapped* place);
    [LibraryImport("kernel32", SetLastError = true)]
    public static partial int UnlockFileEx(Win32Handle file, uint reserved, uint low, uint high, NativeOverlapped* place);
    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int GetAce(void* list, uint index, byte** entry);

    /// <summary>Opens or makes a file or opens a folder; what is made is for this user only. Null with <see cref="LastError"/> set.</summary>
    public static Win32Handle? OpenFile(string path, uint access, uint share, uint disposition, uint flags)
    {
        var attributes = OnlyThisUser.Instance.Attributes;
        var made = CreateFileCall(path, access, share, &attributes, disposition, flags, 0);
        return made is not (0 or -1) ? new Win32Handle(made) : null;
    }

    /// <summary>Makes a folder for this user only. False with <see cref="LastError"/> set.</summary>
    public static bool MakeFolder(string path)
    {
        var attributes = OnlyThisUser.Instance.Attributes;
        return CreateDirectoryCall(path, &attributes) != 0;
    }

    /// <summary>Whether a file or folder belongs to this user and lets only this user in, and those whom nothing keeps out: the system
    /// and its administrators.</summary>
    public static bool IsOnlyForThisUser(Win32Handle file)
    {
        void* owner;
        void* list;
        void* descriptor;
        if (GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, null, &list, null, &descriptor) != 0)
            return false;
        var only = TextOf(owner) == ThisUser && LetsOnlyThisUserIn(list);
        LocalFree(descriptor);
        return only;
    }

    private static bool LetsOnlyThisUserIn(void* list)
    {
        if (list == null)
            return false; // everybody
        var count = ((ushort*)list)[2]; // ACL.AceCount
        for (uint i = 0; i < count; i++)
        {
            byte* entry; // type, flags, size (u16), mask (u32), then whom it is about
            if (GetAce(list, i, &entry) == 0)
                return false;
            if (entry[0] == ACCESS_DENIED_ACE_TYPE)
                continue;
            if (entry[0] != ACCESS_ALLOWED_ACE_TYPE || TextOf(entry + 8) is not { } who || (who != ThisUser && who != LocalSystem && who != Administrators))
                return false;
        }
        return true;
    }
}
