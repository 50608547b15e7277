// Receives until the publisher ends: subscriber ADDRESS [DELAY-MS]. With a delay after each message and ?policy=drop in the address it is
// a reader that falls behind, holds nobody up, and learns how many messages it missed.
using System.Globalization;
using Ipc;

if (args.Length is 0 or > 2)
{
    Console.Error.WriteLine("usage: subscriber ADDRESS [DELAY-MS]");
    return 2;
}
var delay = args.Length > 1 ? int.Parse(args[1], CultureInfo.InvariantCulture) : 0;
var buffer = new byte[100];
long received = 0, missed = 0;
try
{
    using var prices = ManagedIpc.Subscribe(args[0], timeoutMilliseconds: 5000);
    try
    {
        while (true)
        {
            prices.Receive(buffer, out var lost);
            received++;
            missed += lost;
            Thread.Sleep(delay);
        }
    }
    catch (IpcException e) when (e.Status == IpcStatus.PeerClosed)
    {
        Console.WriteLine(missed == 0 ? $"received all {received}" : $"received and missed {received + missed}");
        return 0;
    }
}
catch (IpcException e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}
