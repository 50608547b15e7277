namespace Ipc.Lab.Planning;

/// <summary>A transport as the user writes it: registry id, then options as in an address (<c>shm?wait=spin&amp;size=4M</c>).</summary>
internal static class TransportSpec
{
    public static string IdOf(string spec) => spec.Split('?', 2)[0];

    /// <summary>Checks id and options against the registry and returns the spec.</summary>
    public static string Check(string spec)
    {
        try
        {
            IpcAddress.Parse(ToAddress(spec, "check"));
            return spec;
        }
        catch (IpcException e)
        {
            throw new UserMistakeException(ErrorMessage.Of(e));
        }
    }

    /// <summary>An address with the given name; transports named by a port let the system choose one.</summary>
    public static string ToAddress(string spec, string name)
    {
        var parts = spec.Split('?', 2);
        var placed = IsNamedByPort(Registry.Transport(parts[0])) ? "127.0.0.1:0" : name;
        return $"{parts[0]}://{placed}{(parts.Length == 2 ? "?" + parts[1] : "")}";
    }

    public static bool IsNamedByPort(TransportEntry transport) => transport.NameForm.StartsWith("port", StringComparison.Ordinal);

    /// <summary>Whether an option has a value, set or by default, given as <c>option=value</c> (the form of the registry's floor_when).</summary>
    public static bool HasOption(string spec, string assignment)
    {
        var parts = assignment.Split('=', 2);
        return IpcAddress.Parse(ToAddress(spec, "check")).Option(parts[0]) == parts[1];
    }
}
