using System.Text.Encodings.Web;
using System.Text.Json;

namespace Ipc.Lab;

/// <summary>How every JSON file and line of the lab is written: snake_case names, nulls kept so that a cell always has every field.</summary>
internal static class LabJson
{
    /// <summary>For files people may open.</summary>
    public static JsonSerializerOptions Indented { get; } = Create(indented: true);
    /// <summary>For one object per line.</summary>
    public static JsonSerializerOptions Line { get; } = Create(indented: false);
    /// <summary>For reading files that anybody may have written: what must be there is there, and is not null.</summary>
    public static JsonSerializerOptions Complete { get; } = Create(indented: false, complete: true);

    private static JsonSerializerOptions Create(bool indented, bool complete = false) => new()
    {
        RespectNullableAnnotations = complete,
        RespectRequiredConstructorParameters = complete,
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        WriteIndented = indented,
        // The output goes to files and pipes, never into HTML: "native:native" and "µs" stay readable.
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    };
}
