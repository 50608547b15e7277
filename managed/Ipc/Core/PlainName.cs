namespace Ipc;

/// <summary>Names that can be part of a path on every system without ever leaving their folder.</summary>
internal static class PlainName
{
    private const int Longest = 80;

    /// <summary>Refuses a name that could mean something else in a path.</summary>
    public static void Check(IpcAddress address)
    {
        var name = address.Name;
        if (name.Length is 0 or > Longest || name[0] == '.' || !name.All(c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' or '-'))
            throw new IpcException(IpcStatus.BadAddress,
                $"'{address}' has a name that cannot be used: write 1 to {Longest} of A-Z a-z 0-9 . _ - and no dot first");
    }
}
