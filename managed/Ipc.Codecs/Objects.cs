namespace Ipc.Codecs;

/// <summary>An object that counts the exchanges of one connection.</summary>
public interface ISequenced
{
    /// <summary>1, 2, 3 ... in requests; a reply repeats its request's.</summary>
    ulong Sequence { get; set; }
}

/// <summary>"Give me these rows and columns of that table."</summary>
/// <typeparam name="TStrings">The container of its texts: <c>string[]</c> in programs, <c>LinkedList&lt;string&gt;</c> where
/// scenario `serialize` compares the two.</typeparam>
public sealed class Request<TStrings> : ISequenced where TStrings : class
{
    // Declared in the order of docs/wire-formats.md, which is the order JSON writes them in.

    /// <inheritdoc/>
    public required ulong Sequence { get; set; }
    /// <summary>Of the table asked.</summary>
    public required string Name { get; set; }
    /// <summary>The rows asked for.</summary>
    public required TStrings Ids { get; set; }
    /// <summary>The columns asked for.</summary>
    public required TStrings Fields { get; set; }
}

/// <summary>The cells asked for, row after row.</summary>
/// <typeparam name="TStrings">As in <see cref="Request{TStrings}"/>.</typeparam>
public sealed class Reply<TStrings> : ISequenced where TStrings : class
{
    /// <inheritdoc/>
    public required ulong Sequence { get; set; }
    /// <summary>Cells per row.</summary>
    public required uint Columns { get; set; }
    /// <summary>Rows x columns.</summary>
    public required TStrings Cells { get; set; }
}
