using System.Diagnostics;
using Xunit;

namespace Ipc.Distribution.Tests;

public sealed class StartScriptsTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("ipc-distribution-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void The_committed_scripts_are_current()
    {
        var folder = new ScriptFolder(RepositoryRoot.Find("distribution"), StartScripts.All());
        Assert.Empty(folder.Differences());
    }

    [Fact]
    public void Every_transport_and_codec_has_a_server_and_a_client_of_each_side_in_the_shell_of_each_of_its_systems()
    {
        var names = StartScripts.All().Select(script => script.FileName).ToHashSet();
        Assert.Equal(StartScripts.All().Count, names.Count);
        var ends = Registry.Transports.Where(t => t.Kind is "channel" or "call")
            .Sum(t => t.Platforms.Count * new[] { "native", "managed" }.Count(side => t.Sides[side].Length == 0));
        Assert.Equal(ends * Registry.Codecs.Count(c => c.Scenarios is null) * 2, names.Count);
        Assert.Contains("pipesbytessrv.sh", names);
        Assert.Contains("managedpipesbytesclient.sh", names);
        Assert.Contains("shmeventprotobufdirectsrv.bat", names);
        Assert.Contains("managedtcpjsonclient.bat", names);
        Assert.Contains("managedmsrpcalpccustomsrv.bat", names);
        Assert.DoesNotContain("unixbytessrv.bat", names);
        Assert.DoesNotContain("mailslotbytessrv.sh", names);
    }

    [Fact]
    public void A_server_and_a_client_of_one_transport_meet_at_one_address()
    {
        foreach (var transport in Registry.Transports.Where(t => t.Kind is "channel" or "call" && t.Sides["native"].Length == 0))
        {
            var addresses = StartScripts.All()
                .Select(script => script.Text.Split("--address ")[1].Split(' ')[0])
                .Where(address => address.StartsWith(transport.Id + "://", StringComparison.Ordinal));
            Assert.Single(addresses.Distinct());
        }
    }

    [Fact]
    public void A_folder_put_right_has_no_differences_and_needs_no_second_mending()
    {
        var folder = new ScriptFolder(_folder, StartScripts.All());
        Assert.Equal(StartScripts.All().Count, folder.Mend().Count);
        Assert.Empty(folder.Differences());
        Assert.Empty(folder.Mend());
    }

    [Fact]
    public void A_script_finds_the_lab_from_elsewhere_and_through_a_link()
    {
        if (OperatingSystem.IsWindows())
            return;
        var scripts = Directory.CreateDirectory(Path.Combine(_folder, "distribution")).FullName;
        new ScriptFolder(scripts, StartScripts.All()).Mend();
        Directory.CreateDirectory(Path.Combine(_folder, "scripts"));
        File.CreateSymbolicLink(Path.Combine(_folder, "scripts", "ipc"), "/bin/echo");
        var link = Path.Combine(_folder, "server");
        File.CreateSymbolicLink(link, Path.Combine(scripts, "shmbytessrv.sh"));

        using var server = Process.Start(new ProcessStartInfo(link, ["--workload", "64"]) { RedirectStandardOutput = true, WorkingDirectory = "/" })!;
        Assert.Equal("serve --side native --address shm://ipc-pair --codec raw --workload 64\n", server.StandardOutput.ReadToEnd());
        server.WaitForExit();
        Assert.Equal(0, server.ExitCode);
    }

    [Fact]
    public void Missing_changed_and_extra_scripts_are_named()
    {
        var folder = new ScriptFolder(_folder, StartScripts.All());
        folder.Mend();
        File.Delete(Path.Combine(_folder, "pipesbytessrv.sh"));
        File.AppendAllText(Path.Combine(_folder, "pipesbytessrv.bat"), "rem");
        File.WriteAllText(Path.Combine(_folder, "pigeonbytessrv.sh"), "");
        File.WriteAllText(Path.Combine(_folder, "README.md"), "not a script");

        Assert.Equal(
            ["pipesbytessrv.sh: missing", "pipesbytessrv.bat: differs from what the registry says",
                "pigeonbytessrv.sh: no entry of the registry asks for it"],
            folder.Differences());
        folder.Mend();
        Assert.Empty(folder.Differences());
        Assert.True(File.Exists(Path.Combine(_folder, "README.md")));
    }

    [Fact]
    public void A_script_that_lost_its_executable_bit_is_named()
    {
        if (OperatingSystem.IsWindows())
            return;
        var folder = new ScriptFolder(_folder, StartScripts.All());
        folder.Mend();
        File.SetUnixFileMode(Path.Combine(_folder, "pipesbytessrv.sh"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        Assert.Equal(["pipesbytessrv.sh: is not executable"], folder.Differences());
    }

    [Fact]
    public void Shell_scripts_end_lines_with_LF_and_batch_files_with_CRLF()
    {
        foreach (var script in StartScripts.All())
        {
            var lines = script.Text.Split('\n');
            Assert.Equal("", lines[^1]);
            Assert.All(lines[..^1], line => Assert.Equal(!script.IsExecutable, line.EndsWith('\r')));
        }
    }
}
