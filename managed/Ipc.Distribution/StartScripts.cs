namespace Ipc.Distribution;

/// <summary>One file of distribution/: its name and its whole text.</summary>
internal sealed record StartScript(string FileName, string Text)
{
    public bool IsExecutable => FileName.EndsWith(".sh", StringComparison.Ordinal);
}

/// <summary>
/// The start scripts that follow from the registry: one server and one client per transport, codec and side, for the shell of
/// each system on which the transport exists. A server and a client know only the transport's shared address, so any two of one transport and codec
/// make a pair.
/// </summary>
internal static class StartScripts
{
    // What `ipc serve` and `ipc drive` take when no --workload is given; the scripts leave it out so that a user may give one.
    private const string Workload = "1k-10k";
    private const string SharedName = "ipc-pair";
    private const string SharedPort = "45454";

    // The sides that have start scripts, and how their file names begin.
    private static readonly (string Side, string Prefix)[] s_sides = [("native", ""), ("managed", "managed")];

    private static readonly (string Command, string Suffix)[] s_roles = [("serve", "srv"), ("drive", "client")];

    /// <summary>Every script there should be, in the registry's order.</summary>
    public static IReadOnlyList<StartScript> All() =>
    [
        .. from transport in Registry.Transports
           from codec in Registry.Workloads.Single(w => w.Id == Workload).Codecs
           from side in s_sides
           where transport.Kind is "channel" or "call" && transport.Sides.TryGetValue(side.Side, out var whyMissing) && whyMissing.Length == 0
           from role in s_roles
           from script in ForEachShell(transport, codec, side.Side, side.Prefix, role.Command, role.Suffix)
           where transport.Platforms.Contains(script.IsExecutable ? "linux" : "windows")
           select script
    ];

    private static StartScript[] ForEachShell(
        TransportEntry transport, string codec, string side, string prefix, string command, string suffix)
    {
        var transportWord = TransportWord(transport.Id);
        var codecWord = CodecWord(codec);
        var name = prefix + transportWord + codecWord + suffix;
        var partner = $"*{transportWord}{codecWord}{(command == "serve" ? "client" : "srv")}";
        var role = command == "serve" ? "server" : "client";
        var what = $"The {side} {role} of transport {transport.Id} with codec {codec}; {partner} is its other end.";
        var arguments = $"{command} --side {side} --address {Address(transport)} --codec {codec}";

        return
        [
            new StartScript(name + ".sh", $"""
                #!/bin/sh
                # {what}
                # Made by scripts/distribution.sh. Further arguments go to `ipc {command}`, e.g. --workload; {Workload} unless said.
                exec "$(dirname "$(readlink -f "$0")")/../scripts/ipc" {arguments} "$@"

                """.ReplaceLineEndings("\n")),
            new StartScript(name + ".bat", $"""
                @echo off
                rem {what}
                rem Made by scripts/distribution.sh. Further arguments go to `ipc {command}`, e.g. --workload; {Workload} unless said.
                call "%~dp0..\scripts\ipc.bat" {arguments} %*

                """.ReplaceLineEndings("\r\n"))
        ];
    }

    // One fixed address per transport, so that no script needs to be told where the other is. Only network names are ports.
    private static string Address(TransportEntry transport) =>
        $"{transport.Id}://{(transport.NameForm.StartsWith("port", StringComparison.Ordinal) ? SharedPort : SharedName)}";

    // File names carry ids without hyphens; two read better as the words people use for them.
    private static string TransportWord(string id) => id == "pipe" ? "pipes" : WithoutHyphens(id);

    private static string CodecWord(string id) => id == "raw" ? "bytes" : WithoutHyphens(id);

    private static string WithoutHyphens(string id) => id.Replace("-", "", StringComparison.Ordinal);
}
