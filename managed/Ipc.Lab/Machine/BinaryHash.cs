using System.Security.Cryptography;

namespace Ipc.Lab.Machine;

/// <summary>A file that takes part in a measurement and its SHA-256 as lower-case hexadecimal digits.</summary>
internal sealed record BinaryHash(string File, string Sha256)
{
    public static BinaryHash Of(string path)
    {
        using var stream = System.IO.File.OpenRead(path);
        return new BinaryHash(Path.GetFileName(path), Convert.ToHexStringLower(SHA256.HashData(stream)));
    }
}
