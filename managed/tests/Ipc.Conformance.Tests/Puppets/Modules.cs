using System.Collections.Concurrent;
using Ipc.Lab.Running;

namespace Ipc.Conformance.Puppets;

/// <summary>Transports whose native side is a module over a foreign library: whether the build under test has it, and what must run beside it.</summary>
internal static class Modules
{
    private static readonly ConcurrentDictionary<string, bool> s_here = new();
    private static readonly Lazy<RouDi> s_daemon = new(StartDaemon);

    /// <summary>Whether the transport can be tested here; if not, says why on standard error, once.</summary>
    public static bool AreHere(TransportEntry transport) => transport.Module is not { } module || s_here.GetOrAdd(transport.Id, id =>
    {
        var file = Path.Combine(Path.GetDirectoryName(PuppetProgram.NativeLibrary)!, $"libipc-{id}.so");
        var why = !File.Exists(file) ? $"{file} is missing: install {module.Package} and build the native part again"
            : module.Daemon == RouDi.Program ? RouDi.WhyMissing()
            : null;
        if (why is not null)
            Console.Error.WriteLine($"transport {id} is not tested: {why}");
        return why is null;
    });

    /// <summary>Starts the transport's daemon, if it has one and nobody has yet; it ends with this process.</summary>
    public static void Prepare(TransportEntry transport)
    {
        if (transport.Module?.Daemon == RouDi.Program)
            _ = s_daemon.Value;
    }

    private static RouDi StartDaemon()
    {
        var daemon = RouDi.Start();
        AppDomain.CurrentDomain.ProcessExit += (_, _) => daemon.Dispose();
        return daemon;
    }
}
