using System.Globalization;

namespace Ipc.Lab.Reporting;

/// <summary>Figures with three significant digits and a unit people read at a glance; "-" for what is not known.</summary>
internal static class Units
{
    public const string Unknown = "-";

    /// <summary>"1 cell", "2 cells".</summary>
    public static string Counted(int count, string one, string? several = null) =>
        FormattableString.Invariant($"{count} {(count == 1 ? one : several ?? one + "s")}");

    public static string Time(double? nanoseconds) => nanoseconds switch
    {
        null => Unknown,
        // Bounds lie where three digits round up to the next unit.
        < 999.5 => $"{Digits(nanoseconds.Value)} ns",
        < 999.5e3 => $"{Digits(nanoseconds.Value / 1e3)} µs",
        < 999.5e6 => $"{Digits(nanoseconds.Value / 1e6)} ms",
        _ => $"{Digits(nanoseconds.Value / 1e9)} s",
    };

    public static string Rate(double? perSecond) => Scaled(perSecond, "/s");

    /// <summary>One-way messages.</summary>
    public static string MessageRate(double? perSecond) => Scaled(perSecond, " messages/s").Replace("  ", " ", StringComparison.Ordinal);

    public static string Bytes(double? bytes) => Scaled(bytes, "B");

    /// <summary>A size that somebody chose, which needs no zeros: 1 kB rather than 1.00 kB.</summary>
    public static string RoundBytes(double bytes)
    {
        var text = Bytes(bytes);
        var unit = text.IndexOf(' ', StringComparison.Ordinal);
        return text.Contains('.', StringComparison.Ordinal) ? $"{text[..unit].TrimEnd('0').TrimEnd('.')}{text[unit..]}" : text;
    }

    public static string BytesPerSecond(double? bytes) => Scaled(bytes, "B/s");

    public static string Ratio(double? ratio) => ratio is { } r ? Digits(r) : Unknown;

    /// <summary>Both ends of an interval.</summary>
    public static string Interval(double[]? interval, Func<double?, string> format) =>
        interval is [var low, var high] ? $"{format(low)} .. {format(high)}" : Unknown;

    public static string Duration(TimeSpan time) =>
        time.TotalHours >= 1 ? $"{(int)time.TotalHours} h {time.Minutes} min"
        : time.TotalMinutes >= 1 ? $"{(int)time.TotalMinutes} min {time.Seconds} s"
        : $"{Math.Max(0, time.Seconds)} s";

    private static string Scaled(double? value, string unit)
    {
        if (value is not { } v)
            return Unknown;
        string[] prefixes = ["", "k", "M", "G", "T"];
        var power = 0;
        while (Math.Abs(v) >= 999.5 && power < prefixes.Length - 1)
        {
            v /= 1000;
            power++;
        }
        return $"{Digits(v)} {prefixes[power]}{unit}";
    }

    private static string Digits(double value) => value.ToString(
        Math.Abs(value) switch { 0 => "0", < 9.995 => "0.00", < 99.95 => "0.0", _ => "0" }, CultureInfo.InvariantCulture);
}
