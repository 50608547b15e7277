using System.Runtime.InteropServices;

namespace Ipc;

/// <summary>The folders of this user in which names and files of shared memory stand.</summary>
internal static partial class LocalNames
{
    private const uint OwnerOnly = 0b111_000_000, OthersWrite = 0b000_010_010;
    private const string OwnRuntimeFolder = "set XDG_RUNTIME_DIR to a folder of your own";

    /// <summary>Where this user's names stand: in the user's runtime folder if there is one, else in /tmp/ipc-&lt;uid&gt;.</summary>
    public static string PrivateFolder => FolderOfUser("/tmp");

    /// <summary>Where this user's files of shared memory stand: likewise, else in /dev/shm/ipc-&lt;uid&gt;.</summary>
    public static string MemoryFolder => FolderOfUser("/dev/shm");

    /// <summary>Opens one of the two, making it if missing. Refuses one that is not a folder of this user with mode 0700.</summary>
    public static Descriptor OpenFolder(string path)
    {
        var made = Libc.MakeFolder(path, OwnerOnly) == 0;
        if (!made && Libc.LastError != Libc.EEXIST)
            throw Libc.Failure(IpcStatus.NoPermission, $"cannot make the private folder {path} ({OwnRuntimeFolder})");
        var folder = Libc.Open(path, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_NOFOLLOW);
        if (folder is null)
        {
            var error = Libc.LastError;
            throw error is Libc.ENOTDIR or Libc.ELOOP or Libc.EACCES && Libc.GetStatus(path, out var status)
                    && (status.User != Libc.EffectiveUser() || status.Kind != Libc.S_IFDIR)
                ? Refusal(path, status)
                : Libc.Failure(error == Libc.EACCES ? IpcStatus.NoPermission : IpcStatus.System, $"cannot open the private folder {path}", error);
        }
        try
        {
            Check(folder, path, made);
            return folder;
        }
        catch
        {
            folder.Dispose();
            throw;
        }
    }

    private static void Check(Descriptor folder, string path, bool made)
    {
        if (!Libc.GetStatus(folder, out var status))
            throw Libc.Failure(IpcStatus.System, $"cannot look at the private folder {path}");
        if (status.User != Libc.EffectiveUser())
            throw Refusal(path, status);
        var mode = status.Mode & ~Libc.S_IFMT;
        // Only a very strict umask makes a folder of our own differ from what was asked for.
        if (mode == OwnerOnly || (made && Libc.ChangeMode(folder, OwnerOnly) == 0))
            return;
        throw new IpcException(IpcStatus.NoPermission,
            $"the private folder {path} has mode 0{Convert.ToString(mode, 8)}, so others may have put names there: look inside, then chmod it to 0700 "
                + "or remove it");
    }

    // What stands where the folder should be is another's, or no folder.
    private static IpcException Refusal(string path, Libc.FileStatus status)
    {
        if (status.User == Libc.EffectiveUser())
        {
            return new IpcException(IpcStatus.NoPermission,
                $"{path} is not a folder, but this user's names belong in one there: remove it, or {OwnRuntimeFolder}");
        }
        var owner = NameOfUser(status.User);
        return new IpcException(IpcStatus.NoPermission,
            $"{path} belongs to {owner}, so this user's names cannot be kept there: ask {owner} or root to remove it, or {OwnRuntimeFolder}");
    }

    // The user's runtime folder is preferred, because nobody can take a name in it first, as anybody can in the shared one.
    private static string FolderOfUser(string shared)
    {
        var user = Libc.EffectiveUser();
        if (Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR") is { Length: > 0 } given && given[0] == '/' && IsOfUserAlone(given))
            return $"{(given.Length > 1 ? given.TrimEnd('/') : given)}/ipc";
        var system = FormattableString.Invariant($"/run/user/{user}");
        return IsOfUserAlone(system) ? $"{system}/ipc" : FormattableString.Invariant($"{shared}/ipc-{user}");
    }

    // A folder of this user in which nobody else can make anything, nor take what is to be made.
    private static bool IsOfUserAlone(string path) =>
        Libc.GetStatusOfTarget(path, out var status) && status.Kind == Libc.S_IFDIR && status.User == Libc.EffectiveUser() && (status.Mode & OthersWrite) == 0;

    private static unsafe string NameOfUser(uint user)
    {
        const int TextBytes = 4096, EntryBytes = 128; // struct passwd has 48; its first field is the name
        var text = stackalloc byte[TextBytes];
        var entry = stackalloc byte*[EntryBytes / 8];
        byte** found = null;
        return Libc.FindUser(user, entry, text, TextBytes, &found) == 0 && found != null
            ? FormattableString.Invariant($"user {Marshal.PtrToStringAnsi((nint)found[0])} ({user})")
            : FormattableString.Invariant($"user {user}");
    }
}
