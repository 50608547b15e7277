namespace Ipc.Codecs;

/// <summary>Gives strings one after the other.</summary>
public interface IStringSource
{
    /// <summary>The next string; asked exactly as often as the caller said there are strings.</summary>
    string Take();
}

/// <summary>Takes strings one after the other.</summary>
public interface IStringVisitor
{
    /// <summary>One string.</summary>
    void Visit(string text);
}

/// <summary>Describes a container of strings to the codecs. Written once per container, it lets every codec work with it at full speed: the compiler
/// specializes the codec for each container, and the loop for each source or visitor.</summary>
public interface IStrings<TStrings> where TStrings : class
{
    /// <summary>How many strings it holds.</summary>
    int Count(TStrings strings);
    /// <summary>A new container filled from a source.</summary>
    TStrings Create<TSource>(int count, ref TSource source) where TSource : struct, IStringSource;
    /// <summary>Shows each string, first to last.</summary>
    void Visit<TVisitor>(TStrings strings, ref TVisitor visitor) where TVisitor : struct, IStringVisitor;
}

/// <summary>Strings in an array.</summary>
public readonly struct ArrayStrings : IStrings<string[]>
{
    /// <inheritdoc/>
    public int Count(string[] strings) => strings.Length;

    /// <inheritdoc/>
    public string[] Create<TSource>(int count, ref TSource source) where TSource : struct, IStringSource
    {
        if (count == 0)
            return [];
        var strings = new string[count];
        for (var i = 0; i < strings.Length; i++)
            strings[i] = source.Take();
        return strings;
    }

    /// <inheritdoc/>
    public void Visit<TVisitor>(string[] strings, ref TVisitor visitor) where TVisitor : struct, IStringVisitor
    {
        foreach (var text in strings)
            visitor.Visit(text);
    }
}

/// <summary>Strings in a linked list.</summary>
public readonly struct LinkedStrings : IStrings<LinkedList<string>>
{
    /// <inheritdoc/>
    public int Count(LinkedList<string> strings) => strings.Count;

    /// <inheritdoc/>
    public LinkedList<string> Create<TSource>(int count, ref TSource source) where TSource : struct, IStringSource
    {
        var strings = new LinkedList<string>();
        for (var i = 0; i < count; i++)
            strings.AddLast(source.Take());
        return strings;
    }

    /// <inheritdoc/>
    public void Visit<TVisitor>(LinkedList<string> strings, ref TVisitor visitor) where TVisitor : struct, IStringVisitor
    {
        for (var node = strings.First; node is not null; node = node.Next)
            visitor.Visit(node.Value);
    }
}
