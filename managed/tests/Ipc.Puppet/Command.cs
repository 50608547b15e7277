using System.Globalization;

namespace Ipc.Puppet;

/// <summary>The content was not what the command expected, or the command makes no sense.</summary>
internal sealed class WrongException(string message) : Exception(message);

/// <summary>The words of one command after its worker's name, read from left to right.</summary>
internal sealed class Command(string line)
{
    private int _at;

    public string Word()
    {
        if (_at >= line.Length)
            throw new WrongException($"the command '{line}' lacks an argument");
        var space = line.IndexOf(' ', _at);
        var end = space < 0 ? line.Length : space;
        var word = line[_at..end];
        _at = Math.Min(end + 1, line.Length);
        return word;
    }

    public ulong Number() => ulong.Parse(Word(), CultureInfo.InvariantCulture);

    public int Size() => int.Parse(Word(), CultureInfo.InvariantCulture);

    public int Timeout() => int.Parse(Word(), CultureInfo.InvariantCulture);

    /// <summary>`copy` (false) or `loan` (true).</summary>
    public bool Loan() => Word() switch
    {
        "loan" => true,
        "copy" => false,
        var mode => throw new WrongException($"'{mode}' is neither copy nor loan"),
    };

    /// <summary>LENGTH SEED SEQUENCE.</summary>
    public Payload Payload() => new(Size(), Number(), Number());

    /// <summary>SEED SEQUENCE: what is expected of a message whose length only its arrival tells.</summary>
    public Payload Expected() => new(0, Number(), Number());

    /// <summary>All that is left of the line.</summary>
    public string Text()
    {
        var text = line[_at..];
        _at = line.Length;
        return text;
    }
}
