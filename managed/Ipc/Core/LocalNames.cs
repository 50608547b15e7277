using System.Globalization;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A name in the file system and the address it comes from, for sentences.</summary>
internal sealed record LocalName(string Address, string Path);

/// <summary>Names on Linux, docs/wire-formats.md: where they stand, under which lock they are made and removed.</summary>
[SupportedOSPlatform("linux")]
internal static class LocalNames
{
    private const uint OwnerOnly = 0b111_000_000;
    // A holder needs the lock for some 10 ms; who has it for this long is stopped or stuck.
    private const int LockPatienceMilliseconds = 5000;
    private const ulong ExitingFlag = 4; // PF_EXITING, the system's own: part of /proc/<pid>/stat

    /// <summary>The folder that belongs to this user alone.</summary>
    public static string PrivateFolder => PrivateFolderUnder("/tmp");

    /// <summary>The same elsewhere: /dev/shm for memory that outlives its processes.</summary>
    public static string PrivateFolderUnder(string root) => string.Create(CultureInfo.InvariantCulture, $"{root}/ipc-{Libc.EffectiveUser()}");

    /// <summary>Refuses a name that could mean something else in a path.</summary>
    public static void Check(Address address) => PlainNames.Check(address);

    /// <summary>A name in the private folder, after checking both; the folder is made if missing.</summary>
    public static LocalName InPrivateFolder(Address address, string prefix)
    {
        Check(address);
        OpenFolder(PrivateFolder).Dispose();
        return new LocalName(address.ToString(), $"{PrivateFolder}/{prefix}{address.Name}");
    }

    /// <summary>The lock under which names are made, judged dead and removed; disposing gives it back.</summary>
    public static Descriptor Lock() => Lock(PrivateFolder);

    /// <summary>The same for the names in a private folder elsewhere, which is made if missing.</summary>
    public static Descriptor Lock(string path)
    {
        var folder = OpenFolder(path);
        var end = new Deadline(LockPatienceMilliseconds);
        while (Libc.Lock(folder, Libc.LOCK_EX | Libc.LOCK_NB) != 0)
        {
            var error = Libc.LastError;
            if (error is Libc.EAGAIN or Libc.EINTR && !end.Expired)
            {
                Thread.Sleep(1);
                continue;
            }
            folder.Dispose();
            throw error is Libc.EAGAIN or Libc.EINTR
                ? new IpcException(Status.System,
                    $"another process has kept {path} locked for {LockPatienceMilliseconds / 1000} s: find it with 'fuser {path}' and end it")
                : Libc.Failure(Status.System, $"cannot lock the private folder {path}", error);
        }
        return folder;
    }

    /// <summary>Removes a name if it still stands for this file. Never throws: what cannot be removed is found dead later.</summary>
    public static void Remove(string path, FileIdentity identity)
    {
        try
        {
            using var names = Lock();
            if (Libc.GetStatus(path, out var now) && now.Identity == identity)
                _ = Libc.Unlink(path);
        }
        catch (IpcException)
        {
            // The lock cannot be had: the name is left to whoever meets it next.
        }
    }

    /// <summary>True while the process is there and not on its way out; also when that cannot be known.</summary>
    public static bool IsRunning(int process)
    {
        try
        {
            var text = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{process}/stat"));
            // pid (name) state parent group session terminal foreground-group flags ...: the name may hold anything, even ')'.
            var fields = text[(text.LastIndexOf(')') + 2)..].Split(' ');
            return (ulong.Parse(fields[6], CultureInfo.InvariantCulture) & ExitingFlag) == 0;
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            return false;
        }
        catch (IOException)
        {
            return false; // it went while we read
        }
        catch (Exception e) when (e is UnauthorizedAccessException or FormatException or IndexOutOfRangeException)
        {
            return true;
        }
    }

    /// <summary>A private folder, opened and made if missing. Refuses one that is not a folder of this user with mode 0700.</summary>
    public static Descriptor OpenFolder(string path)
    {
        var made = Libc.MakeFolder(path, OwnerOnly) == 0;
        if (!made && Libc.LastError != Libc.EEXIST)
            throw Libc.Failure(Status.NoPermission, $"cannot make the private folder {path}");
        var folder = Libc.Open(path, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_NOFOLLOW);
        if (folder is null && Libc.LastError is not (Libc.ENOTDIR or Libc.ELOOP or Libc.EACCES))
            throw Libc.Failure(Status.System, $"cannot open the private folder {path}");
        try
        {
            return Checked(folder, path, made);
        }
        catch
        {
            folder?.Dispose();
            throw;
        }
    }

    private static Descriptor Checked(Descriptor? folder, string path, bool made)
    {
        if (folder is null || !Libc.GetStatus(folder, out var status) || status.User != Libc.EffectiveUser())
            throw new IpcException(Status.NoPermission,
                $"{path} is not a folder of this user, whose names would stand there: have it removed");
        var mode = status.Mode & ~Libc.S_IFMT;
        // Only a very strict umask makes a folder of our own differ from what was asked for.
        if (mode == OwnerOnly || (made && Libc.ChangeMode(folder, OwnerOnly) == 0))
            return folder;
        throw new IpcException(Status.NoPermission,
            $"the private folder {path} has mode {Convert.ToString(mode, 8)}, so others may have put names there: look inside, then chmod it to 700 or remove it");
    }
}
