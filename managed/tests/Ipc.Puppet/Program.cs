// The .NET puppet: carries out the commands of native/tests/puppet/README.md on the managed or the bound side; inside a native process
// (HostedPuppet) on the hosted one. With --echo it is a server that returns each request until its standard input ends (scripts/flood.sh).
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
return Commands.CarryOut(sideId);
