using System.Runtime.Versioning;
using System.Security.Cryptography;

namespace Ipc;

/// <summary>FIFOs in the private folder: opening only our own, and removing those nobody reads any more.</summary>
[SupportedOSPlatform("linux")]
internal static class FifoNames
{
    // Nobody can ask a FIFO who made it, nor wait for its maker's end: longer would only delay whoever meets a new server there.
    private const int MostDyingMilliseconds = 5;
    private const string DownEnding = ".down";
    private const uint OwnerReadsAndWrites = 0b110_000_000;

    /// <summary>Opens a FIFO of this user without waiting for its other end and without following a link. Null with
    /// <see cref="Libc.LastError"/> set; <paramref name="error"/> is EPERM when it is something else.</summary>
    public static Descriptor? Open(string path, int access, out int error)
    {
        var opened = Libc.Open(path, access | Libc.O_NONBLOCK | Libc.O_NOFOLLOW);
        error = opened is null ? Libc.LastError : 0;
        if (opened is null || (Libc.GetStatus(opened, out var status) && IsOwn(status)))
            return opened;
        opened.Dispose();
        error = Libc.EPERM;
        return null;
    }

    /// <summary>0, or the error.</summary>
    public static int Make(string path) => Libc.MakeFifo(path, OwnerReadsAndWrites) == 0 ? 0 : Libc.LastError;

    public static void RemoveOwn(string path)
    {
        if (Libc.GetStatus(path, out var status) && IsOwn(status))
            _ = Libc.Unlink(path);
    }

    /// <summary>With the names locked: removes a FIFO of this user that nobody reads. True if it is gone.</summary>
    public static bool RemoveDead(string path)
    {
        if (!Libc.GetStatus(path, out var status) || !IsOwn(status))
            return false;
        using var opened = Open(path, Libc.O_WRONLY, out var error);
        return error == Libc.ENXIO && Libc.Unlink(path) == 0;
    }

    /// <summary>With the names locked: removes what clients that were killed half-way through a handshake have left.</summary>
    public static void RemoveDeadPairs(string handshakeFifo)
    {
        var beginning = Path.GetFileName(handshakeFifo) + ".";
        foreach (var down in Directory.EnumerateFiles(LocalNames.PrivateFolder, beginning + "*" + DownEnding))
        {
            if (Path.GetFileName(down).Length == beginning.Length + FifoRecord.TokenLength + DownEnding.Length && RemoveDead(down))
                RemoveOwn(down[..^DownEnding.Length] + ".up");
        }
    }

    /// <summary>For a client whose connection has ended: removes its server's name if nobody reads there. Never throws, nor outlasts the
    /// deadline by more than some milliseconds. False: the name is still there.</summary>
    public static bool ForgetDeadServer(string path, Deadline deadline)
    {
        // A dying process closes its descriptors one by one, perhaps this connection before its handshake.
        var patience = new Deadline(LocalNames.MillisecondsToForget(deadline));
        for (var waited = 0; waited <= MostDyingMilliseconds; waited++)
        {
            if (waited > 0)
                Thread.Sleep(1);
            if (TryToForget(path, patience))
                return true;
            if (patience.Expired)
                return false;
        }
        return false;
    }

    /// <summary>The same, for a server that has had time to die. This is the last chance, and whoever tries a dead socket's name keeps the lock
    /// for 10 ms.</summary>
    public static void ForgetServerIfDead(string path) => TryToForget(path, new Deadline(50));

    // True if there is no name any more.
    private static bool TryToForget(string path, Deadline patience)
    {
        var gone = !Libc.GetStatus(path, out _);
        if (!gone)
            LocalNames.IfLocked(patience, () => gone = RemoveDead(path));
        return gone;
    }

    private static bool IsOwn(in Libc.FileStatus status) => status.Kind == Libc.S_IFIFO && status.User == Libc.EffectiveUser();
}

/// <summary>The two names of one connection; disposing removes them, which it outlives.</summary>
[SupportedOSPlatform("linux")]
internal sealed class FifoPair(string handshakeFifo, string token) : IDisposable
{
    public string Up { get; } = $"{handshakeFifo}.{token}.up";
    public string Down { get; } = $"{handshakeFifo}.{token}.down";
    public string Token { get; } = token;

    /// <summary>Makes both, for a client; returns `.down`, open for reading. As long as there is an `.up` there is a `.down`,
    /// whose reader tells whether the client lives.</summary>
    public static (FifoPair Pair, Descriptor Down) Make(string handshakeFifo, Deadline deadline)
    {
        var pair = new FifoPair(handshakeFifo, Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(FifoRecord.TokenLength / 2)));
        using var names = LocalNames.Lock(deadline);
        Descriptor? down = null;
        var error = FifoNames.Make(pair.Down);
        if (error == 0)
            down = FifoNames.Open(pair.Down, Libc.O_RDONLY, out error);
        if (error == 0)
            error = FifoNames.Make(pair.Up);
        if (error == 0)
            return (pair, down!);
        down?.Dispose();
        pair.Dispose();
        throw Libc.Failure(IpcStatus.System, $"cannot make the FIFOs {pair.Down} and {pair.Up}", error);
    }

    public void Dispose()
    {
        FifoNames.RemoveOwn(Up);
        FifoNames.RemoveOwn(Down);
    }
}
