namespace Ipc.Lab.Advising;

/// <summary>The lines of C++ and C# that use an address, taken from sources that are compiled.</summary>
internal static class UsageLines
{
    private const string PlaceHolder = "shm://orders";

    /// <param name="role">server or client.</param>
    /// <param name="side">The side that they are for: native is C++, bound is C# over the C library.</param>
    public static string For(string transportKind, string scenario, string role, string side, string address)
    {
        var use = scenario == "call" ? "Calls" : transportKind switch { "queue" => "Queues", "broadcast" => "Broadcasts", _ => "Messages" };
        var lines = side == "native" ? Between(Read("snippets.cpp"), $"// {use} {role}") : Between(Read($"{use}.cs"), $"// {role}");
        var text = lines.Replace(PlaceHolder, address, StringComparison.Ordinal);
        return side.StartsWith("bound", StringComparison.Ordinal) ? text.Replace("ManagedIpc.", "NativeIpc.", StringComparison.Ordinal) : text;
    }

    private static string Between(string source, string mark)
    {
        var lines = source.Split('\n').Select(l => l.TrimEnd('\r')).SkipWhile(l => l.Trim() != mark).Skip(1).TakeWhile(l => l.Trim() != "// end").ToList();
        var indent = lines[0].Length - lines[0].TrimStart().Length;
        return string.Join(Environment.NewLine, lines.Select(l => l[Math.Min(indent, l.Length)..]));
    }

    private static string Read(string name)
    {
        using var stream = typeof(UsageLines).Assembly.GetManifestResourceStream($"ipc.snippets.{name}")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}
