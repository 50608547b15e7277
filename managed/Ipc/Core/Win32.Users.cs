using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Users: who runs a process, who owns an object.</summary>
internal static unsafe partial class Win32
{
    private const uint TOKEN_QUERY = 8, PROCESS_QUERY_LIMITED_INFORMATION = 0x1000, OWNER_SECURITY_INFORMATION = 1, SDDL_REVISION_1 = 1;
    private const int TokenUser = 1, SE_KERNEL_OBJECT = 6;
    // TOKEN_USER: a pointer, attributes, and the identifier (at most 68 bytes) itself.
    private const int LargestTokenUser = 128;

    [StructLayout(LayoutKind.Sequential)]
    public struct SecurityAttributes
    {
        public uint Length;
        public void* Descriptor;
        public int Inherit;
    }

    [LibraryImport("kernel32")]
    private static partial nint GetCurrentProcess();
    [LibraryImport("kernel32", SetLastError = true)]
    private static partial nint OpenProcess(uint access, int inherit, uint process);
    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int OpenProcessToken(nint process, uint access, nint* token);
    [LibraryImport("kernel32")]
    private static partial nint GetCurrentThread();
    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int OpenThreadToken(nint thread, uint access, int asSelf, nint* token);
    [LibraryImport("advapi32", SetLastError = true)]
    private static partial int GetTokenInformation(nint token, int what, void* information, uint length, uint* needed);
    [LibraryImport("advapi32", EntryPoint = "ConvertSidToStringSidW", SetLastError = true)]
    private static partial int ConvertSidToString(void* sid, char** text);
    [LibraryImport("advapi32", EntryPoint = "ConvertStringSecurityDescriptorToSecurityDescriptorW", SetLastError = true,
        StringMarshalling = StringMarshalling.Utf16)]
    private static partial int ConvertToSecurityDescriptor(string text, uint revision, void** descriptor, uint* size);
    [LibraryImport("advapi32")]
    private static partial uint GetSecurityInfo(SafeHandle handle, int kind, uint what, void** owner, void** group, void** dacl, void** sacl,
        void** descriptor);
    [LibraryImport("kernel32")]
    public static partial void* LocalFree(void* memory);

    /// <summary>The security identifier (S-1-...) of the user this process runs as, whoever the thread impersonates; throws.</summary>
    public static string ThisUser { get; } = UserOf(GetCurrentProcess()) ??
        throw Failure(IpcStatus.System, "cannot ask which user this process runs as", LastError);

    /// <summary>Who a process runs as; null when that cannot be known: it is gone, or its token may not be read (an elevated
    /// process of the same user is such a one).</summary>
    public static string? UserOfProcess(uint process)
    {
        var opened = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process);
        if (opened == 0)
            return null;
        using var owned = new Win32Handle(opened);
        return UserOf(opened);
    }

    /// <summary>Who owns a kernel object; null when that cannot be known.</summary>
    public static string? OwnerOf(SafeHandle handle)
    {
        void* owner;
        void* descriptor;
        if (GetSecurityInfo(handle, SE_KERNEL_OBJECT, OWNER_SECURITY_INFORMATION, &owner, null, null, null, &descriptor) != 0)
            return null;
        var text = TextOf(owner);
        LocalFree(descriptor);
        return text;
    }

    /// <summary>Who this thread impersonates; null if nobody.</summary>
    public static string? UserOfThread()
    {
        nint token;
        if (OpenThreadToken(GetCurrentThread(), TOKEN_QUERY, 1, &token) == 0)
            return null;
        using var owned = new Win32Handle(token);
        return UserOfToken(token);
    }

    private static string? UserOf(nint process)
    {
        nint token;
        if (OpenProcessToken(process, TOKEN_QUERY, &token) == 0)
            return null;
        using var owned = new Win32Handle(token);
        return UserOfToken(token);
    }

    private static string? UserOfToken(nint token)
    {
        var information = stackalloc byte[LargestTokenUser];
        uint needed;
        return GetTokenInformation(token, TokenUser, information, LargestTokenUser, &needed) != 0 ? TextOf(*(void**)information) : null;
    }

    private static string? TextOf(void* sid)
    {
        char* text;
        if (sid == null || ConvertSidToString(sid, &text) == 0)
            return null;
        var copy = new string(text);
        LocalFree(text);
        return copy;
    }

    /// <summary>A security descriptor from its text; the caller frees it with <see cref="LocalFree"/>. Throws.</summary>
    public static void* SecurityDescriptor(string text)
    {
        void* descriptor;
        return ConvertToSecurityDescriptor(text, SDDL_REVISION_1, &descriptor, null) != 0
            ? descriptor
            : throw Failure(IpcStatus.System, $"cannot make the security descriptor {text}", LastError);
    }
}

/// <summary>Makes kernel objects that belong to this user (not to the group that elevated processes give theirs to by default)
/// and that nobody else may open. Lives as long as the process.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class OnlyThisUser
{
    private readonly void* _descriptor = Win32.SecurityDescriptor($"O:{Win32.ThisUser}D:P(A;;GA;;;{Win32.ThisUser})");

    /// <summary>The one that all share.</summary>
    public static OnlyThisUser Instance { get; } = new();

    public Win32.SecurityAttributes Attributes => new() { Length = (uint)sizeof(Win32.SecurityAttributes), Descriptor = _descriptor };
}
