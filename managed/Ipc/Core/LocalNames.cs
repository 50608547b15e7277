using System.Globalization;
using System.Runtime.Versioning;

namespace Ipc;

/// <summary>A name in the file system and the address it comes from, for error messages.</summary>
internal sealed record LocalName(string Address, string Path);

/// <summary>Names on Linux, docs/wire-formats.md: where they stand, under which lock they are made and removed.</summary>
[SupportedOSPlatform("linux")]
internal static partial class LocalNames
{
    // A holder needs the lock for some 10 ms; who has it for this long is stopped or stuck.
    private const int LockPatienceMilliseconds = 5000;
    private const ulong ExitingFlag = 4; // PF_EXITING, the system's own: part of /proc/<pid>/stat

    /// <summary>A name in the private folder, after checking both; the folder is made if missing.</summary>
    public static LocalName InPrivateFolder(IpcAddress address, string prefix)
    {
        PlainName.Check(address);
        var folder = PrivateFolder;
        OpenFolder(folder).Dispose();
        return new LocalName(address.ToString(), $"{folder}/{prefix}{address.Name}");
    }

    /// <summary>The lock under which names are made, judged dead and removed; disposing gives it back.</summary>
    public static Descriptor Lock(int patienceMilliseconds = LockPatienceMilliseconds) => Lock(PrivateFolder, patienceMilliseconds);

    /// <summary>The same for a call with a time-out, which it does not outlast.</summary>
    public static Descriptor Lock(Deadline deadline) => Lock(PrivateFolder, deadline);

    /// <summary>The same for the names in either folder.</summary>
    public static Descriptor Lock(string path, Deadline deadline)
    {
        var patience = deadline.SliceMilliseconds(LockPatienceMilliseconds);
        try
        {
            return Lock(path, patience);
        }
        catch (IpcException e) when (e.Status == IpcStatus.System && patience < LockPatienceMilliseconds && deadline.Expired)
        {
            throw new IpcException(IpcStatus.TimedOut, $"the time-out passed while another process kept {path} locked");
        }
    }

    /// <summary>How long a client that finds its server dead tries to clear the server's name away: no longer than its call may last,
    /// but for some milliseconds even if that has no time left.</summary>
    public static int MillisecondsToForget(Deadline deadline) => Math.Max(deadline.SliceMilliseconds(1000), 8);

    /// <summary>Does something under the lock, if it can be had before the deadline; else it is left to whoever meets the name next.</summary>
    public static void IfLocked(Deadline deadline, Action act)
    {
        try
        {
            using (Lock(deadline))
                act();
        }
        catch (IpcException)
        {
            // Telling what is wrong with the connection matters more.
        }
    }

    /// <summary>The same for the names in either folder, which is made if missing.</summary>
    public static Descriptor Lock(string path, int patienceMilliseconds = LockPatienceMilliseconds)
    {
        var folder = OpenFolder(path);
        var end = new Deadline(patienceMilliseconds);
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
                ? new IpcException(IpcStatus.System,
                    $"another process has kept {path} locked for {patienceMilliseconds / 1000} s: find it with 'fuser {path}' and end it")
                : Libc.Failure(IpcStatus.System, $"cannot lock the private folder {path}", error);
        }
        return folder;
    }

    /// <summary>Removes a name if it still stands for this file. Never throws: what cannot be removed is found dead later.</summary>
    public static void Remove(string path, FileIdentity identity)
    {
        Descriptor? names = null;
        try
        {
            names = Lock();
        }
        catch (IpcException)
        {
            // No descriptor for it, perhaps. While the listener is open nobody takes its name for dead, so it goes all the same.
        }
        if (Libc.GetStatus(path, out var now) && now.Identity == identity)
            _ = Libc.Unlink(path);
        names?.Dispose();
    }

    /// <summary>True while the process is on its way out and may not have closed all its descriptors yet.</summary>
    public static bool IsClosingDescriptors(int process)
    {
        try
        {
            var text = File.ReadAllText(FormattableString.Invariant($"/proc/{process}/stat"));
            // pid (name) state parent group session terminal foreground-group flags, four counts of page faults, four times,
            // priority, nice, threads ...: the name may hold anything, even ')'.
            var fields = text[(text.LastIndexOf(')') + 2)..].Split(' ');
            if ((ulong.Parse(fields[6], CultureInfo.InvariantCulture) & ExitingFlag) == 0)
                return false;
            // A zombie has closed its own, but other threads of it may be on their way and have them open still.
            return fields[0] != "Z" || int.Parse(fields[17], CultureInfo.InvariantCulture) > 1;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException or IndexOutOfRangeException)
        {
            return false; // it is gone, or nothing can be known
        }
    }
}
