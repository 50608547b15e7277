namespace Ipc.Wcf;

/// <summary>Addresses of our transports in the form WCF wants: <c>shm://prices?wait=spin</c> is <c>ipc://shm/prices?wait=spin</c>.</summary>
public static class IpcUri
{
    /// <summary>The scheme of every endpoint of <see cref="IpcBinding"/>.</summary>
    public const string Scheme = "ipc";

    /// <summary>The endpoint's URI of one of our addresses.</summary>
    public static Uri FromAddress(string address)
    {
        var parsed = IpcAddress.Parse(address);
        var options = address.Substring(parsed.Transport.Length + "://".Length + parsed.Name.Length);
        return new Uri($"{Scheme}://{parsed.Transport}/{parsed.Name}{options}");
    }

    /// <summary>Our address of an endpoint's URI; <see cref="UriFormatException"/> if it is none.</summary>
    public static string ToAddress(Uri uri)
    {
        ArgumentNullException.ThrowIfNull(uri);
        if (uri.Scheme != Scheme || uri.AbsolutePath.Length < 2)
            throw new UriFormatException(
                $"'{uri}' is no endpoint of this binding: write {Scheme}://transport/name?option=value, for example {Scheme}://shm/prices");
        return $"{uri.Host}://{Uri.UnescapeDataString(uri.AbsolutePath.Substring(1))}{uri.Query}";
    }
}
