// The .NET puppet: carries out the commands of native/tests/puppet/README.md on the managed or the bound side; inside a native process
// (HostedPuppet) on the hosted one.
using Ipc.Puppet;

if (args is not ["--side", var sideId])
{
    Console.Error.WriteLine("usage: Ipc.Puppet --side managed|bound");
    return 2;
}
return Commands.CarryOut(sideId);
