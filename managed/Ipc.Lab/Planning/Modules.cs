using Ipc.Lab.Running;

namespace Ipc.Lab.Planning;

/// <summary>Transports whose native side is a module over a foreign library: whether this machine has what they need.</summary>
internal static class Modules
{
    /// <summary>An error message saying why the transport cannot be had here, or null if it can or is no module.</summary>
    /// <param name="transport">The transport's entry.</param>
    /// <param name="libraryFolder">Where the native library lies, and its modules beside it; null if that cannot be known yet.</param>
    public static string? WhyMissing(TransportEntry transport, string? libraryFolder)
    {
        if (transport.Module is not { } module)
            return null;
        var file = $"libipc-{transport.Id}.so";
        if (libraryFolder is not null && !File.Exists(Path.Combine(libraryFolder, file)))
            return $"the native library was built without {file}: install {module.Package} (Debian's name) and build again";
        return module.Daemon == RouDi.Program ? RouDi.WhyMissing() : null;
    }

    /// <summary>Whether any cell of the plan that is to run needs this daemon.</summary>
    public static bool Needs(Plan plan, string daemon) =>
        plan.Runnable().Select(i => plan.Cells[i].Cell).Any(cell => !cell.IsAlone && Registry.Transport(cell.TransportId).Module?.Daemon == daemon);
}
