using System.Globalization;

namespace Ipc;

/// <summary>
/// An address, <c>transport://name?option=value&amp;option=value</c>, that has been checked: the transport exists, and it has every option and takes its
/// value.
/// </summary>
/// <remarks>Programs pass addresses as strings; this class is for those that look into one. It does not change, and any thread may use it.</remarks>
public sealed class IpcAddress
{
    // A message and the few bytes of its header must fit into one .NET array.
    private const int LargestLimit = int.MaxValue - 0xFFFF;

    private readonly TransportEntry _entry;
    private readonly Dictionary<string, string> _options;
    private readonly string _text;

    private IpcAddress(string text, TransportEntry entry, string name, Dictionary<string, string> options)
    {
        _text = text;
        _entry = entry;
        Name = name;
        _options = options;
        // Read once here, so that a limit no transport can keep is refused with the address and not at the first message.
        MaxMessageLength = CheckedLimit();
    }

    /// <summary>The transport, for example <c>shm</c>.</summary>
    public string Transport => _entry.Id;

    /// <summary>The part between <c>://</c> and the options. Its form depends on the transport: a name, or a host and port.</summary>
    public string Name { get; }

    /// <summary>The longest message in bytes (option <c>max=</c>), at most a little under 2 GiB.</summary>
    public int MaxMessageLength { get; }

    /// <summary>Parses and checks an address.</summary>
    /// <param name="address">The address.</param>
    /// <returns>The parts of the address.</returns>
    /// <exception cref="ArgumentNullException">The address is null.</exception>
    /// <exception cref="IpcException"><see cref="IpcStatus.BadAddress"/>, <see cref="IpcStatus.UnknownTransport"/> or <see cref="IpcStatus.BadOption"/>,
    /// with an error message that lists what there is.</exception>
    public static IpcAddress Parse(string address)
    {
        ArgumentNullException.ThrowIfNull(address);
        var colon = address.IndexOf("://", StringComparison.Ordinal);
        if (colon <= 0)
            throw Malformed(address);
        var rest = address[(colon + 3)..];
        var question = rest.IndexOf('?', StringComparison.Ordinal);
        var name = question < 0 ? rest : rest[..question];
        if (name.Length == 0 || name.Any(char.IsControl))
            throw Malformed(address);
        var entry = Registry.Transport(address[..colon]);
        return new IpcAddress(address, entry, name, question < 0 ? [] : ParseOptions(address, entry, rest[(question + 1)..]));
    }

    /// <summary>The value of an option: the one given, or the default.</summary>
    /// <param name="name">The option, for example <c>wait</c>.</param>
    /// <returns>The value as text.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BadOption"/>: the transport has no such option.</exception>
    public string Option(string name) => _options.TryGetValue(name, out var value) ? value : FindOption(_entry, name).Default;

    /// <summary>The value of an option that is a size, in bytes: <c>64M</c> is 67108864.</summary>
    /// <param name="name">The option, for example <c>max</c>.</param>
    /// <returns>The size in bytes.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BadOption"/>: the transport has no such option.</exception>
    public long OptionSize(string name) => ParseSize(Option(name))!.Value;

    /// <summary>The value of an option that is a number.</summary>
    /// <param name="name">The option, for example <c>spin</c>.</param>
    /// <returns>The number.</returns>
    /// <exception cref="IpcException"><see cref="IpcStatus.BadOption"/>: the transport has no such option.</exception>
    public long OptionCount(string name) => ParseCount(Option(name))!.Value;

    /// <summary>The same address with another name, such as a listener's once the system has chosen a port.</summary>
    /// <param name="name">The other name.</param>
    /// <returns>The address as text.</returns>
    public string WithName(string name) =>
        string.Concat(Transport, "://", name, _text[(Transport.Length + 3 + Name.Length)..]);

    /// <summary>The address as it was given.</summary>
    /// <returns>The text that was parsed.</returns>
    public override string ToString() => _text;

    private static Dictionary<string, string> ParseOptions(string text, TransportEntry entry, string options)
    {
        var parsed = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var option in options.Split('&'))
        {
            var equals = option.IndexOf('=', StringComparison.Ordinal);
            if (equals <= 0)
                throw Malformed(text);
            var name = option[..equals];
            var value = option[(equals + 1)..];
            CheckValue(entry, FindOption(entry, name), value);
            if (!parsed.TryAdd(name, value))
                throw new IpcException(IpcStatus.BadOption, $"option '{name}' stands twice in '{text}': give it once");
        }
        return parsed;
    }

    private static OptionEntry FindOption(TransportEntry entry, string name) =>
        AllOptions(entry).FirstOrDefault(o => o.Name == name)
        ?? throw new IpcException(IpcStatus.BadOption,
            $"transport '{entry.Id}' has no option '{name}'; its options are {string.Join(", ", AllOptions(entry).Select(o => o.Name))}");

    private static IEnumerable<OptionEntry> AllOptions(TransportEntry entry) => entry.Options.Concat(Registry.CommonOptions);

    private static void CheckValue(TransportEntry entry, OptionEntry option, string value)
    {
        var wanted = option.Kind switch
        {
            "choice" when !option.Choices!.Split(',').Contains(value) => $"one of {option.Choices.Replace(",", ", ", StringComparison.Ordinal)}",
            "size" when ParseSize(value) is null => "a number of bytes such as 4096, 64k, 16M or 1G",
            "count" when ParseCount(value) is null => "a whole number such as 50",
            _ => null,
        };
        if (wanted is not null)
            throw BadValue(entry, option.Name, value, wanted);
    }

    private int CheckedLimit()
    {
        var limit = OptionSize("max");
        if (limit > ParseSize(_entry.LargestMessage))
            throw BadValue(_entry, "max", Option("max"), $"at most {_entry.LargestMessage}");
        return (int)Math.Min(limit, LargestLimit);
    }

    /// <summary>The error message for a value its option does not take.</summary>
    internal IpcException BadValue(string option, string wanted) => BadValue(_entry, option, Option(option), wanted);

    private static IpcException BadValue(TransportEntry entry, string option, string value, string wanted) =>
        new(IpcStatus.BadOption, $"option '{option}' of transport '{entry.Id}' does not take '{value}': give {wanted}");

    // Null when it is no size. Zero is none either: no size here can be empty.
    private static long? ParseSize(string text)
    {
        var shift = text.Length == 0 ? 0 : text[^1] switch { 'k' => 10, 'M' => 20, 'G' => 30, _ => 0 };
        var number = ParseCount(shift == 0 ? text : text[..^1]);
        return number is null or 0 || number > long.MaxValue >> shift ? null : number << shift;
    }

    private static long? ParseCount(string text) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;

    private static IpcException Malformed(string text) =>
        new(IpcStatus.BadAddress, $"'{text}' is not an address: write transport://name?option=value&option=value, for example shm://prices?wait=spin");
}
