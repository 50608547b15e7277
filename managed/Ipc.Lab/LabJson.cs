using System.Text.Encodings.Web;
using System.Text.Json;
using Ipc.Lab.Results;

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

    /// <summary>The same for results.json, whose arrays of numbers are intervals and whose texts go into reports.</summary>
    public static JsonSerializerOptions Results { get; } = new(Complete) { Converters = { new IntervalConverter(), new VisibleTextConverter() } };

    /// <summary>The number of the schema that an object says it has, or null. Looked at before anything else: what another version wrote need not have this
    /// one's fields.</summary>
    public static int? SchemaOf(JsonElement of) =>
        of.ValueKind == JsonValueKind.Object && of.TryGetProperty("schema", out var schema) && schema.ValueKind == JsonValueKind.Number
            && schema.TryGetInt32(out var number)
            ? number : null;

    /// <summary>Reads what anybody may have written, with <see cref="Complete"/> or <see cref="Results"/>.</summary>
    /// <exception cref="JsonException">It is not a T, or has null where an element of a list should be, which options let pass.</exception>
    public static T Read<T>(JsonElement value, JsonSerializerOptions options) where T : class =>
        HasNullElement(value)
            ? throw new JsonException("a list in it has null for an element")
            : value.Deserialize<T>(options) ?? throw new JsonException("it is null");

    private static bool HasNullElement(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Array => value.EnumerateArray().Any(e => e.ValueKind == JsonValueKind.Null || HasNullElement(e)),
        JsonValueKind.Object => value.EnumerateObject().Any(p => HasNullElement(p.Value)),
        _ => false,
    };

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
