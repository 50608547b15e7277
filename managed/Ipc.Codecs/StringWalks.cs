namespace Ipc.Codecs;

// The walks over strings that every codec shares: as sources and visitors (Strings.cs).

/// <summary>Strings of their own, character for character, as a program makes them that builds an object from its data.</summary>
internal struct FreshCopies(string[] texts) : IStringSource
{
    private int _next;

    public static unsafe string Of(string text)
    {
        // Not by a span, which older runtimes make the same string of again.
        fixed (char* characters = text)
            return new string(characters, 0, text.Length);
    }

    public string Take() => Of(texts[_next++]);
}

internal struct ArraySource(string[] texts) : IStringSource
{
    private int _next;

    public string Take() => texts[_next++];
}

internal struct ArrayFiller(string[] room) : IStringVisitor
{
    private int _next;

    public void Visit(string text) => room[_next++] = text;
}

/// <summary>Holds each string against the expected one.</summary>
internal struct Comparison(string[] expected) : IStringVisitor
{
    private int _next;
    private bool _differs;

    public readonly bool Same => !_differs && _next == expected.Length;

    public void Visit(string text)
    {
        _differs |= _next >= expected.Length || text != expected[_next];
        _next++;
    }
}

/// <summary>Reads every character, as a program that uses the object would.</summary>
internal struct CharacterSum : IStringVisitor
{
    public ulong Sum { get; private set; }

    public void Visit(string text)
    {
        var sum = 0UL;
        foreach (var character in text)
            sum += character;
        Sum += sum;
    }
}
