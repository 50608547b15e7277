using System.Text.Json;
using System.Text.Json.Serialization;

namespace Ipc.Lab.Results;

/// <summary>An interval as files have it, [low, high]; anything else is refused.</summary>
internal sealed class IntervalConverter : JsonConverter<double[]>
{
    public override double[] Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        if (reader.TokenType != JsonTokenType.StartArray)
            throw new JsonException();
        var interval = new double[2];
        foreach (ref var end in interval.AsSpan())
        {
            reader.Read();
            if (reader.TokenType != JsonTokenType.Number)
                throw new JsonException();
            end = reader.GetDouble();
        }
        reader.Read();
        return reader.TokenType == JsonTokenType.EndArray && interval[0] <= interval[1] ? interval : throw new JsonException();
    }

    public override void Write(Utf8JsonWriter writer, double[] value, JsonSerializerOptions options)
    {
        writer.WriteStartArray();
        foreach (var end in value)
            writer.WriteNumberValue(end);
        writer.WriteEndArray();
    }
}
