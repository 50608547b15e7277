using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ipc.Lab.Results;

/// <summary>Text from outside, as reports can show it: no workbook takes control characters, and a terminal would obey them.</summary>
internal static class VisibleText
{
    /// <summary>The same text with U+FFFD for each control character but the end of a line and the tabulator, and for what XML does not take either.</summary>
    public static string Of(string text) => text.All(c => IsVisible(c) && !char.IsSurrogate(c))
        ? text
        : string.Concat(text.EnumerateRunes().Select(rune => rune.IsBmp && !IsVisible((char)rune.Value) ? "\uFFFD" : rune.ToString()));

    private static bool IsVisible(char c) => !(char.IsControl(c) && c is not ('\n' or '\t') || c is '\uFFFE' or '\uFFFF');
}

/// <summary>Reads every text of a file so.</summary>
internal sealed class VisibleTextConverter : JsonConverter<string>
{
    public override string? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.TokenType == JsonTokenType.String ? VisibleText.Of(reader.GetString()!) : throw new JsonException();

    public override void Write(Utf8JsonWriter writer, string value, JsonSerializerOptions options) => writer.WriteStringValue(value);
}
