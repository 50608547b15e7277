using System.Diagnostics;

namespace Ipc.Lab.Tests;

/// <summary>The command as a process of its own, with fake peers that misbehave as their mode says.</summary>
internal static class CommandUnderTest
{
    // The program itself, which is compiled ahead; beside the tests lies its assembly alone.
    private static readonly string s_lab = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../Ipc.Lab",
        Path.GetFileName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory)), "ipc-lab.dll"));

    public static Process Start(TemporaryFolder folder, string mode, params string[] arguments) => Start(folder, mode, [], arguments);

    /// <param name="prefix">A command that becomes the one under test.</param>
    public static Process Start(TemporaryFolder folder, string mode, string[] prefix, params string[] arguments)
    {
        string[] words = [.. prefix, "dotnet", s_lab, .. arguments];
        var start = new ProcessStartInfo(words[0], words[1..])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = folder.Path,
        };
        start.Environment["IPC_NATIVE_PEER"] = start.Environment["IPC_MANAGED_PEER"] = Fakes.FakePeer;
        start.Environment["IPC_FLOORS"] = Fakes.FakeFloors;
        start.Environment["FAKE_PEER"] = mode;
        start.Environment["FAKE_PEER_LOG"] = Path.Combine(folder.Path, "peers.log");
        start.Environment["FAKE_PEER_BUILD"] = mode == "debug" ? "debug" : "release";
        start.Environment["FAKE_PEER_PAUSE"] = mode == "slow" ? "0.2" : "";
        return Process.Start(start)!;
    }

    public static async Task<(int Code, string Output, string Errors)> RunAsync(TemporaryFolder folder, string mode, params string[] arguments)
    {
        using var process = Start(folder, mode, arguments);
        return await EndAsync(process);
    }

    public static async Task<(int Code, string Output, string Errors)> EndAsync(Process process)
    {
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, await errors);
    }
}
