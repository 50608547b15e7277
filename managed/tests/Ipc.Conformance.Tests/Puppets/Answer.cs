namespace Ipc.Conformance.Puppets;

/// <summary>Something was not as the contract says; the message says what.</summary>
public sealed class ConformanceException(string message, Exception? inner = null) : Exception(message, inner);

/// <summary>What a puppet answered to a command, and how long it took as seen from here.</summary>
internal sealed record Answer(PuppetProcess Puppet, string Command, string Word, IpcStatus Status, string Text, TimeSpan Elapsed)
{
    /// <summary>Reads the rest of an answering line after the worker's name.</summary>
    public static Answer Parse(PuppetProcess puppet, string command, string line, TimeSpan elapsed)
    {
        var words = line.Split(' ', 3);
        return words[0] == "error"
            ? new Answer(puppet, command, "error", (IpcStatus)int.Parse(words[1], null), words.ElementAtOrDefault(2) ?? "", elapsed)
            : new Answer(puppet, command, words[0], IpcStatus.Ok, line.Length > words[0].Length ? line[(words[0].Length + 1)..] : "", elapsed);
    }

    public bool IsOk => Word == "ok";

    /// <summary>Returns the text if the command succeeded.</summary>
    public string Ok()
    {
        if (!IsOk)
            throw Unexpected("success");
        return Text;
    }

    /// <summary>Succeeded with exactly this text.</summary>
    public void Ok(object text)
    {
        if (Ok() != $"{text}")
            throw Unexpected($"'{text}'");
    }

    /// <summary>Was refused with one of the statuses and an error message.</summary>
    public Answer Refused(params IpcStatus[] statuses)
    {
        if (Word != "error" || !statuses.Contains(Status))
            throw Unexpected(string.Join(" or ", statuses));
        if (Text.Length == 0)
            throw Unexpected($"an error message with {Status}");
        return this;
    }

    /// <summary>Below the suite's own time-outs, which are 5 s and more. Not a measurement: a loaded machine has answered a time-out of 40 ms after a
    /// second.</summary>
    public const int PromptMilliseconds = 4000;

    /// <summary>Came without waiting for any of the suite's own time-outs.</summary>
    public Answer Promptly() => Within(PromptMilliseconds);

    /// <summary>Came within a time that is promised.</summary>
    public Answer Within(int milliseconds)
    {
        if (Elapsed.TotalMilliseconds > milliseconds)
            throw Unexpected($"an answer within {milliseconds} ms");
        return this;
    }

    /// <summary>Did not come before the time (less a clock's tick).</summary>
    public Answer NotBefore(int milliseconds)
    {
        if (Elapsed.TotalMilliseconds < milliseconds - 2)
            throw Unexpected($"an answer after {milliseconds} ms");
        return this;
    }

    private ConformanceException Unexpected(string wanted) => new(
        $"{Puppet.Name}: '{Command}' should have given {wanted}, but after {Elapsed.TotalMilliseconds:F0} ms it gave {Word}"
        + (Word == "error" ? $" {Status}" : "") + $": {Text}");
}
