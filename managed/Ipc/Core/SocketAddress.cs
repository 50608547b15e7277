using System.Buffers.Binary;
using System.Runtime.Versioning;
using System.Text;

namespace Ipc;

/// <summary>A Unix socket's path in the system's form, which is short: a socket in a folder with a long name is reached through the
/// folder itself, open for as long as this is not disposed.</summary>
[SupportedOSPlatform("linux")]
internal sealed class SocketAddress : IDisposable
{
    private const int LongestPath = 107; // bytes of sun_path, less the zero at its end

    private readonly Descriptor? _folder;

    public SocketAddress(LocalName name)
    {
        var path = name.Path;
        if (Encoding.UTF8.GetByteCount(path) > LongestPath)
        {
            var slash = path.LastIndexOf('/');
            _folder = Libc.Open(path[..slash], Libc.O_PATH | Libc.O_DIRECTORY);
            if (_folder is not null)
                path = FormattableString.Invariant($"/proc/self/fd/{_folder.DangerousGetHandle()}{path[slash..]}");
        }
        var text = Encoding.UTF8.GetBytes(path);
        if (text.Length > LongestPath)
        {
            _folder?.Dispose();
            throw new IpcException(IpcStatus.BadAddress, $"{name.Address} needs the path {name.Path}, which is too long for a Unix socket: shorten the name");
        }
        // struct sockaddr_un: the family as a 16-bit number, the path, a zero.
        Bytes = new byte[sizeof(ushort) + text.Length + 1];
        BinaryPrimitives.WriteUInt16LittleEndian(Bytes, Libc.AF_UNIX);
        text.CopyTo(Bytes, sizeof(ushort));
    }

    public byte[] Bytes { get; }

    public void Dispose() => _folder?.Dispose();
}
