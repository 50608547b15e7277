using System.Diagnostics;
using System.Net.Sockets;

namespace Ipc.Lab.Running;

/// <summary>iceoryx's daemon for as long as a run (or the conformance suite, which compiles this file too) needs it: one that runs
/// already is used and left alone, for there can be only one on a machine; else one is started, and ended by Dispose.</summary>
/// <remarks>It is held by a shell that waits for the end of its standard input: however this process ends, the daemon ends. Others of
/// this class, in any process, may use it meanwhile; each keeps a shared lock on the program's file, and the shell waits for theirs.</remarks>
internal sealed class RouDi : IDisposable
{
    /// <summary>The registry's name for it.</summary>
    public const string Program = "iox-roudi";

    private const string DaemonSocket = "/tmp/roudi";
    private static readonly TimeSpan s_startBound = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_endBound = TimeSpan.FromSeconds(10);

    // Ends the daemon in order when its input ends, and by force where it hangs; then removes what it does not: its own folder, sockets and locks of
    // runtimes whose process was killed (ipc-iceoryx-<user>-<process>-<digits>[.lock]), and its memory where it did not end well: it was killed, or has
    // aborted, as it does when such a process is among its clients. Nothing here writes to a pipe that may be gone.
    private const string Holder = """
        timeout --kill-after=3 infinity iox-roudi -c "$1/pools.toml" </dev/null >"$1/log" 2>&1 &
        roudi=$!
        read -r word
        [ "$word" = now ] || { exec 9<"$2"; flock -x 9; }
        kill "$roudi"
        wait "$roudi" || rm -f /dev/shm/iceoryx_mgmt "/dev/shm/$(id -gn)"
        for file in /tmp/ipc-iceoryx-*; do
            process=${file#/tmp/ipc-iceoryx-*-}
            [ -d "/proc/${process%%-*}" ] || rm -f "$file"
        done
        rm -rf "$1"
        """;

    // Neither child nor group of ours: a terminal's Ctrl-C and a test host that kills what it started do not reach it.
    private const string Detach = """exec 3<&0; setsid sh -c "$1" sh "$2" "$3" <&3 3<&- >/dev/null 2>&1 &""";

    // Pools of chunks: for fragments of up to 128 kB, option fragment's default, each way for several connections at once (90 MB in all).
    private const string Pools = """
        [general]
        version = 1

        [[segment]]

        [[segment.mempool]]
        size = 128
        count = 4096

        [[segment.mempool]]
        size = 1024
        count = 2048

        [[segment.mempool]]
        size = 16384
        count = 1024

        [[segment.mempool]]
        size = 131072
        count = 512

        """;

    private readonly Held? _holder;
    private readonly FileStream? _use;

    private RouDi(Held? holder, FileStream? use) => (_holder, _use) = (holder, use);

    /// <summary>Whether this one was started here, rather than found.</summary>
    public bool IsOurs => _holder is not null;

    /// <summary>An error message saying why it cannot be had, or null if it runs or can be started.</summary>
    public static string? WhyMissing()
    {
        if (IsRunning())
            return null;
        return Find() is not null ? null : $"{Program}, iceoryx's daemon, is not installed: install Debian's package iceoryx";
    }

    /// <summary>Makes sure that one runs. Throws <see cref="InvalidOperationException"/> with an error message when none can be started.</summary>
    public static RouDi Start()
    {
        var file = Find();
        // Before the look: one that runs now is then not ended by whoever started it.
        var use = file is null ? null : Use(file);
        try
        {
            for (var clock = Stopwatch.StartNew(); !IsRunning(); Thread.Sleep(20))
            {
                if (file is null)
                    throw new InvalidOperationException(WhyMissing());
                var (holder, refusal) = TryStart(file);
                if (holder is not null)
                    return new RouDi(holder, use);
                // Somebody else's is just starting, and soon runs, or just ending.
                if (clock.Elapsed > s_startBound || !refusal.Contains("Could not acquire lock", StringComparison.Ordinal))
                    throw new InvalidOperationException($"{Program}, iceoryx's daemon, does not start: {refusal}");
            }
            if (RouDiProcess.WhyStuck() is { } why)
                throw new InvalidOperationException(why);
            return new RouDi(null, use);
        }
        catch (InvalidOperationException)
        {
            use?.Dispose();
            throw;
        }
    }

    // The shell that holds a daemon ready for clients, or what the daemon said before it gave up.
    private static (Held? Holder, string Refusal) TryStart(string file)
    {
        var folder = Directory.CreateTempSubdirectory("ipc-roudi-").FullName;
        File.WriteAllText(Path.Combine(folder, "pools.toml"), Pools);
        var holder = new Process
        {
            StartInfo = new ProcessStartInfo("sh", ["-c", Detach, "sh", Holder, folder, file])
            {
                RedirectStandardInput = true,
                UseShellExecute = false
            }
        };
        var log = "";
        try
        {
            holder.Start();
            var clock = Stopwatch.StartNew();
            while (clock.Elapsed < s_startBound && !log.Contains("Fatal", StringComparison.OrdinalIgnoreCase))
            {
                if (log.Contains("ready for clients", StringComparison.Ordinal))
                    return (new Held(holder, folder), "");
                Thread.Sleep(20);
                log = ReadLog(folder);
            }
            new Held(holder, folder).End(now: true);
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            log = e.Message;
            holder.Dispose();
            Directory.Delete(folder, recursive: true);
        }
        return (null, log.Length > 0 ? string.Join(' ', log.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)) : "it says nothing");
    }

    /// <summary>Ends the daemon if it was started here, at once or as soon as nobody else uses it.</summary>
    public void Dispose()
    {
        _use?.Dispose();
        _holder?.End(now: false);
    }

    // The shell behind a pipe, and the folder whose removal is the last thing it does.
    private sealed record Held(Process Starter, string Folder)
    {
        public void End(bool now)
        {
            try
            {
                if (now)
                    Starter.StandardInput.WriteLine("now");
                Starter.StandardInput.Close();
            }
            catch (IOException)
            {
                // It has ended already.
            }
            Starter.Dispose();
            for (var clock = Stopwatch.StartNew(); Directory.Exists(Folder) && clock.Elapsed < s_endBound;)
                Thread.Sleep(10);
        }
    }

    private static string? Find() =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => Path.Combine(folder, Program)).FirstOrDefault(File.Exists);

    // .NET locks a file shared that is opened so (flock), and says IOException while the shell has it for itself.
    private static FileStream Use(string file)
    {
        for (var clock = Stopwatch.StartNew(); ; Thread.Sleep(20))
        {
            try
            {
                return new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.Read);
            }
            catch (IOException e) when (clock.Elapsed > s_endBound)
            {
                throw new InvalidOperationException($"another run's {Program} does not end: {e.Message}", e);
            }
            catch (IOException)
            {
                // One is being ended: soon there is none.
            }
        }
    }

    // A datagram socket asks: connecting it reaches whoever has the name bound, and sends nothing.
    private static bool IsRunning()
    {
        if (!OperatingSystem.IsLinux() || !File.Exists(DaemonSocket))
            return false;
        using var probe = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        try
        {
            probe.Connect(new UnixDomainSocketEndPoint(DaemonSocket));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private static string ReadLog(string folder)
    {
        try
        {
            return File.ReadAllText(Path.Combine(folder, "log"));
        }
        catch (IOException)
        {
            return ""; // not there yet
        }
    }
}
