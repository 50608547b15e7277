using System.ComponentModel;
using System.Diagnostics;
using Xunit;

namespace Ipc.Conformance.Puppets;

/// <summary>The native puppet as a 32-bit process, and whether this machine runs such processes at all.</summary>
internal static class ThirtyTwoBits
{
    /// <summary>What the pairs call it: the side native, built by preset linux-x86, for Wine by windows-mingw-x86.</summary>
    public const string Side = "native32";

    private const int TextBusy = 26, NotExecutable = 8; // errno
    private const int Entry = 84;
    private const int LoadAddress = 0x0804_8000;

    private static readonly Lazy<string?> s_whyNot = new(PuppetSystem.IsWine ? AskWine : AskKernel);

    /// <summary>Null if it does. That the puppet is not built is no reason to leave a test out.</summary>
    public static string? WhyNot => s_whyNot.Value;

    /// <summary>The smallest 32-bit program: exit(0), without any library.</summary>
    private static byte[] Program()
    {
        byte[] code = [0x31, 0xC0, 0x40, 0x31, 0xDB, 0xCD, 0x80]; // eax = 1 (exit), ebx = 0, int 0x80
        var program = new MemoryStream();
        using var writer = new BinaryWriter(program);
        writer.Write([0x7F, (byte)'E', (byte)'L', (byte)'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // 32 bits, little-endian
        foreach (var half in new ushort[] { 2, 3 }) // executable, 80386
            writer.Write(half);
        foreach (var word in new[] { 1, LoadAddress + Entry, 52, 0, 0 }) // version, entry, program headers at 52
            writer.Write(word);
        foreach (var half in new ushort[] { 52, 32, 1, 0, 0, 0 }) // sizes; one program header
            writer.Write(half);
        foreach (var word in new[] { 1, 0, LoadAddress, LoadAddress, Entry + code.Length, Entry + code.Length, 5, 4096 }) // load all of it, read and execute
            writer.Write(word);
        writer.Write(code);
        return program.ToArray();
    }

    // The 32-bit half of a prefix is empty when it was made by a Wine without one.
    private static string? AskWine() => File.Exists(Path.Combine(PuppetProgram.WinePrefix, "drive_c", "windows", "syswow64", "ntdll.dll"))
        ? null
        : "Wine runs no 32-bit programs here: its 32-bit half, Debian's package wine32:i386, is not installed (scripts/windows-bootstrap.sh says why not)";

    private static string? AskKernel()
    {
        var path = Path.Combine(Path.GetTempPath(), $"ipc-32-bit-{Guid.NewGuid():N}");
        try
        {
            File.WriteAllBytes(path, Program());
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
            using var process = Start(path);
            process.WaitForExit();
            return process.ExitCode == 0 ? null
                : $"a 32-bit program that only ends ended with {process.ExitCode} here: this machine does not let 32-bit programs call the kernel";
        }
        catch (Win32Exception e) when (e.NativeErrorCode == NotExecutable)
        {
            return "this machine's kernel does not run 32-bit programs";
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static Process Start(string path)
    {
        for (var tries = 0; ; tries++)
        {
            try
            {
                return Process.Start(path);
            }
            catch (Win32Exception e) when (e.NativeErrorCode == TextBusy && tries < 100)
            {
                // Another thread forked while we wrote the file: its child has it open until it starts its own program.
                Thread.Sleep(10);
            }
        }
    }
}

/// <summary>A theory that plays a 32-bit puppet: left out, with the reason, where the machine does not run 32-bit programs.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class BitnessTheoryAttribute : TheoryAttribute
{
    public BitnessTheoryAttribute() => Skip = ThirtyTwoBits.WhyNot;
}
