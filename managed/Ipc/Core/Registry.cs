using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ipc;

/// <summary>What the library needs of registry.json: the transports with their options. Assembly Ipc.Registry reads the rest, for the lab.</summary>
internal static class Registry
{
    private static readonly Lazy<RegistryFile> s_file = new(Load);

    /// <summary>The options that every transport takes.</summary>
    public static IReadOnlyList<OptionEntry> CommonOptions => s_file.Value.CommonOptions;

    public static IReadOnlyList<TransportEntry> Transports => s_file.Value.Transports;

    /// <summary>A transport's entry; <see cref="IpcStatus.UnknownTransport"/> with the known ones if there is none.</summary>
    public static TransportEntry Transport(string id) =>
        Transports.FirstOrDefault(t => t.Id == id)
        ?? throw new IpcException(IpcStatus.UnknownTransport,
            $"there is no transport '{id}'; the transports are {string.Join(", ", Transports.Select(t => t.Id))}");

    /// <summary>An error message saying why this library does not have a transport on this system, or "" if the registry says that it has.</summary>
    public static string WhyNotAvailable(TransportEntry transport)
    {
        var platform = OperatingSystem.IsWindows() ? "windows" : OperatingSystem.IsLinux() ? "linux" : "this system";
        if (!transport.Platforms.Contains(platform))
            return $"transport '{transport.Id}' exists on {string.Join(" and ", transport.Platforms)}, not on {platform}";
        if (transport.Sides.TryGetValue(ManagedSide.Id, out var why))
            return why;
        return transport.Sides.TryGetValue("managed", out var whyNotAtAll) && whyNotAtAll.Length > 0
            ? whyNotAtAll
            : $"transport '{transport.Id}' is for .NET 10: older runtimes lack what it is made with";
    }

    private static RegistryFile Load()
    {
        using var file = typeof(Registry).Assembly.GetManifestResourceStream("ipc.registry.json")!;
        return JsonSerializer.Deserialize(file, RegistryJson.Default.RegistryFile) ?? throw new InvalidOperationException("registry.json is empty");
    }
}

/// <summary>One option of an address. Kind: choice (one of Choices, comma-separated), size (bytes with k, M, G) or count.</summary>
internal sealed record OptionEntry(string Name, string Kind, string Default, string? Choices = null);

/// <summary>A transport. ZeroCopy: through memory that both ends share. Sides: side id to "" or the reason it is missing.</summary>
internal sealed record TransportEntry(
    string Id, string Kind, IReadOnlyList<string> Platforms, bool ZeroCopy, string LargestMessage, IReadOnlyDictionary<string, string> Sides,
    IReadOnlyList<OptionEntry> Options);

internal sealed record RegistryFile(IReadOnlyList<OptionEntry> CommonOptions, IReadOnlyList<TransportEntry> Transports);

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(RegistryFile))]
internal sealed partial class RegistryJson : JsonSerializerContext;
