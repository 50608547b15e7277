namespace Ipc.Lab.Results;

/// <summary>Replaces a file as a whole: a reader sees the old text or the new, never half of it.</summary>
internal static class AtomicFile
{
    public static void Write(string path, string text)
    {
        var half = path + ".part";
        File.WriteAllText(half, text);
        File.Move(half, path, overwrite: true);
    }
}
