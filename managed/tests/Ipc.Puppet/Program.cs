// The .NET puppet: carries out the commands of native/tests/puppet/README.md on the managed or the bound side; or, with --echo, is a server that
// gives each request back until its standard input ends (scripts/flood.sh).
using Ipc;
using Ipc.Puppet;

if (args is ["--side", var serverSide, "--echo", var address])
{
    using var server = new IpcServer(address, (request, reply) => request.CopyTo(reply.Reserve(request.Length)),
        new IpcServerOptions { Implementation = Side.Of(serverSide), Error = e => Console.Error.WriteLine($"{e.Source}: {e.Exception.Message}") });
    Console.WriteLine(server.Address);
    Console.In.ReadToEnd();
    return 0;
}
if (args is not ["--side", var sideId])
{
    Console.Error.WriteLine("usage: Ipc.Puppet --side managed|bound [--echo ADDRESS]");
    return 2;
}
var side = Side.Of(sideId);
var verbs = new Dictionary<string, Verb>();
ConnectionVerbs.AddTo(verbs, side);
MessageVerbs.AddTo(verbs);
CallVerbs.AddTo(verbs);
InFlightVerbs.AddTo(verbs);
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
