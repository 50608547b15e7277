namespace Ipc.Puppet;

/// <summary>What comes on standard input, to its end.</summary>
internal static class Commands
{
    public static int CarryOut(string sideId)
    {
        var side = Side.Of(sideId);
        var verbs = new Dictionary<string, Verb>();
        ConnectionVerbs.AddTo(verbs, side);
        MessageVerbs.AddTo(verbs);
        CallVerbs.AddTo(verbs);
        InFlightVerbs.AddTo(verbs);
        AsyncVerbs.AddTo(verbs);
        QueueVerbs.AddTo(verbs, side);
        BroadcastVerbs.AddTo(verbs, side);

        var handles = new Handles();
        var answers = TextWriter.Synchronized(new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true });
        var workers = new Dictionary<string, Worker>();
        using var commands = new StreamReader(Console.OpenStandardInput());
        while (commands.ReadLine() is { } line)
        {
            var space = line.IndexOf(' ');
            if (space < 0)
                continue;
            var name = line[..space];
            if (!workers.TryGetValue(name, out var worker))
                workers.Add(name, worker = new Worker(name, handles, verbs, answers));
            worker.Give(line[(space + 1)..]);
        }
        // Workers are background threads and may be blocked inside calls; what this puppet has in the file system must go all the same.
        handles.CloseAll();
        return 0;
    }
}
