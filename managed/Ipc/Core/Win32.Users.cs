using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace Ipc;

/// <summary>Users as Windows knows them: security identifiers, written as they stand in names and sentences (S-1-5-21-...).</summary>
[SupportedOSPlatform("windows")]
internal static unsafe partial class Win32Users
{
    private const uint TokenQuery = 8, ReadOwner = 1, ProcessQueryLimitedInformation = 0x1000;
    private const int TokenUser = 1, KernelObject = 6;

    [StructLayout(LayoutKind.Sequential)]
    public struct SecurityAttributes
    {
        public uint Length;
        public nint Descriptor;
        public int Inherit;
    }

    /// <summary>The user this process runs as, whatever user a thread impersonates.</summary>
    public static string This { get; } = OfProcessHandle(GetCurrentProcess())
        ?? throw new IpcException(Status.System, $"cannot ask which user this process runs as: {LastError}");

    /// <summary>For kernel objects that belong to this user and that nobody else may open. The descriptor lives as long as the process.</summary>
    public static SecurityAttributes OnlyThisUser { get; } = new()
    {
        Length = (uint)sizeof(SecurityAttributes),
        Descriptor = MakeDescriptor($"O:{This}D:P(A;;GA;;;{This})"),
    };

    /// <summary>What the system says of its last refusal on this thread.</summary>
    public static string LastError => ErrorText(Marshal.GetLastPInvokeError());

    public static string ErrorText(int error) => $"{new Win32Exception(error).Message.TrimEnd('.', ' ')} (error {error})";

    /// <summary>Who a process runs as; null when that cannot be known.</summary>
    public static string? OfProcess(uint process)
    {
        var opened = OpenProcess(ProcessQueryLimitedInformation, 0, process);
        if (opened == 0)
            return null;
        try
        {
            return OfProcessHandle(opened);
        }
        finally
        {
            _ = CloseHandle(opened);
        }
    }

    /// <summary>Who owns a kernel object; null when that cannot be known. The handle needs READ_CONTROL.</summary>
    public static string? OwnerOf(SafeFileHandle handle)
    {
        nint owner, descriptor;
        if (GetSecurityInfo(handle, KernelObject, ReadOwner, &owner, 0, 0, 0, &descriptor) != 0)
            return null;
        var text = owner == 0 ? null : TextOf(owner);
        _ = LocalFree(descriptor);
        return text;
    }

    /// <summary>Whom this thread impersonates; null when that cannot be known.</summary>
    public static string? OfThread()
    {
        nint token;
        return OpenThreadToken(GetCurrentThread(), TokenQuery, 1, &token) == 0 ? null : OfToken(token);
    }

    private static string? OfProcessHandle(nint process)
    {
        nint token;
        return OpenProcessToken(process, TokenQuery, &token) == 0 ? null : OfToken(token);
    }

    // Closes the token.
    private static string? OfToken(nint token)
    {
        // TOKEN_USER: a pointer to the identifier, which has at most 68 bytes and lies behind it.
        var room = stackalloc nint[32];
        uint length;
        var known = GetTokenInformation(token, TokenUser, room, 32 * (uint)sizeof(nint), &length) != 0;
        _ = CloseHandle(token);
        return known ? TextOf(room[0]) : null;
    }

    private static string? TextOf(nint identifier)
    {
        char* text;
        if (ConvertSidToStringSidW(identifier, &text) == 0)
            return null;
        var copy = new string(text);
        _ = LocalFree((nint)text);
        return copy;
    }

    private static nint MakeDescriptor(string text)
    {
        nint descriptor;
        fixed (char* p = text)
        {
            return ConvertStringSecurityDescriptorToSecurityDescriptorW(p, 1, &descriptor, null) != 0
                ? descriptor
                : throw new IpcException(Status.System, $"cannot make a security descriptor for {This}: {LastError}");
        }
    }

    [LibraryImport("kernel32")]
    private static partial nint GetCurrentProcess();

    [LibraryImport("kernel32", SetLastError = true)]
    private static partial nint OpenProcess(uint access, int inherit, uint process);

    [LibraryImport("kernel32")]
    private static partial int CloseHandle(nint handle);

    [LibraryImport("kernel32")]
    private static partial nint LocalFree(nint memory);

    [LibraryImport("kernel32")]
    private static partial nint GetCurrentThread();

    [LibraryImport("advapi32")]
    private static partial int OpenThreadToken(nint thread, uint access, int asProcess, nint* token);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int OpenProcessToken(nint process, uint access, nint* token);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int GetTokenInformation(nint token, int what, void* room, uint length, uint* needed);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int ConvertSidToStringSidW(nint identifier, char** text);

    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int ConvertStringSecurityDescriptorToSecurityDescriptorW(char* text, uint revision, nint* descriptor, uint* length);

    [LibraryImport("advapi32")]
    private static partial uint GetSecurityInfo(SafeFileHandle handle, int type, uint what, nint* owner, nint group, nint dacl, nint sacl, nint* descriptor);
}
