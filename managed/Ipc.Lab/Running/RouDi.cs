using System.Diagnostics;
using System.Net.Sockets;

namespace Ipc.Lab.Running;

/// <summary>iceoryx's daemon for as long as a run (or the conformance suite, which compiles this file too) needs it: one that runs
/// already is used and left alone, for there can be only one on a machine; else one is started, and ended by Dispose.</summary>
/// <remarks>It is held by a shell that waits for the end of its standard input: however this process ends, the daemon ends.</remarks>
internal sealed class RouDi : IDisposable
{
    /// <summary>The registry's name for it.</summary>
    public const string Program = "iox-roudi";

    private const string DaemonSocket = "/tmp/roudi";
    private static readonly TimeSpan s_startBound = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_endBound = TimeSpan.FromSeconds(10);

    // Ends the daemon in order when its input ends, then removes what it does not: sockets and locks of runtimes whose process was
    // killed (ipc-iceoryx-<user>-<process>-<digits>[.lock]) and its own folder. Nothing here writes to a pipe that may be gone.
    private const string Holder = """
        iox-roudi -c "$1/pools.toml" </dev/null >"$1/log" 2>&1 &
        roudi=$!
        read -r _
        kill "$roudi"
        wait "$roudi"
        for file in /tmp/ipc-iceoryx-*; do
            process=${file#/tmp/ipc-iceoryx-*-}
            [ -d "/proc/${process%%-*}" ] || rm -f "$file"
        done
        rm -rf "$1"
        """;

    // Pools of chunks: for pieces of up to 128 kB, option piece's default, each way for several connections at once (90 MB in all).
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

    private readonly Process? _holder;

    private RouDi(Process? holder) => _holder = holder;

    /// <summary>Whether this one was started here, rather than found.</summary>
    public bool IsOurs => _holder is not null;

    /// <summary>A sentence saying why it cannot be had, or null if it runs or can be started.</summary>
    public static string? WhyMissing()
    {
        if (IsRunning())
            return null;
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries);
        return folders.Any(folder => File.Exists(Path.Combine(folder, Program)))
            ? null
            : $"{Program}, iceoryx's daemon, is not installed: install Debian's package iceoryx";
    }

    /// <summary>Makes sure that one runs. Throws <see cref="InvalidOperationException"/> with a sentence when none can be started.</summary>
    public static RouDi Start()
    {
        if (IsRunning())
            return new RouDi(null);
        if (WhyMissing() is { } why)
            throw new InvalidOperationException(why);
        var folder = Directory.CreateTempSubdirectory("ipc-roudi-").FullName;
        File.WriteAllText(Path.Combine(folder, "pools.toml"), Pools);
        // A session of its own keeps a terminal's Ctrl-C from it: the run ends it when its peers have ended.
        var holder = new Process { StartInfo = new ProcessStartInfo("setsid", ["sh", "-c", Holder, "sh", folder]) { RedirectStandardInput = true, UseShellExecute = false } };
        try
        {
            holder.Start();
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            holder.Dispose();
            Directory.Delete(folder, recursive: true);
            throw new InvalidOperationException($"{Program} cannot be started: {e.Message}", e);
        }
        var started = new RouDi(holder);
        var clock = Stopwatch.StartNew();
        // Its socket comes before its memory does; this word comes last.
        for (var log = ""; !log.Contains("ready for clients", StringComparison.Ordinal); Thread.Sleep(20))
        {
            log = ReadLog(folder);
            if (clock.Elapsed > s_startBound || log.Contains("Fatal", StringComparison.OrdinalIgnoreCase))
            {
                started.Dispose();
                throw new InvalidOperationException($"{Program}, iceoryx's daemon, does not start: {string.Join(' ', log.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries))}");
            }
        }
        return started;
    }

    /// <summary>Ends the daemon if it was started here.</summary>
    public void Dispose()
    {
        if (_holder is null)
            return;
        try
        {
            _holder.StandardInput.Close();
            if (!_holder.WaitForExit(s_endBound))
                _holder.Kill(entireProcessTree: true);
        }
        catch (Exception e) when (e is InvalidOperationException or IOException)
        {
            // It has ended already.
        }
        _holder.Dispose();
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
