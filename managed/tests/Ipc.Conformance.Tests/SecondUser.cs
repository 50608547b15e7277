using System.Globalization;
using System.Runtime.InteropServices;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Puppets and commands of another user, which only root can start.</summary>
internal static partial class SecondUser
{
    public const uint Nobody = 65534;

    public static string? WhyNot { get; } = UserId() == 0 ? null : "only root can take another user's part";

    /// <summary>A user that has nothing else in the system.</summary>
    public static uint Fresh() => (uint)Random.Shared.Next(1_700_000, 2_000_000);

    /// <summary>What to write before a program's name. It may pass through folders that are closed to other users, "/" itself and the
    /// source tree perhaps, because what is tested is our own refusal and not theirs. The secure bit lets access(2), by which .NET looks for its runtime,
    /// take note of that, too.</summary>
    public static string[] Prefix(uint user)
    {
        var number = user.ToString(CultureInfo.InvariantCulture);
        return
        [
            "setpriv", "--securebits=+no_setuid_fixup", $"--reuid={number}", $"--regid={number}", "--clear-groups",
            "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--",
        ];
    }

    /// <summary>Runs a shell's line as that user.</summary>
    public static void Run(uint user, string line)
    {
        using var process = System.Diagnostics.Process.Start(Prefix(user)[0], [.. Prefix(user)[1..], "sh", "-c", line]);
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
    }

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint UserId();
}

/// <summary>A theory for root: left out, with the reason, for anybody else.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class RootTheoryAttribute : TheoryAttribute
{
    public RootTheoryAttribute() => Skip = SecondUser.WhyNot;
}
