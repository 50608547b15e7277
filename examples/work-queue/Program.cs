// Puts numbered orders into a queue: producer ADDRESS COUNT. Workers may come before or after it, or be killed meanwhile. A queue outlives
// them all; producer ADDRESS remove ends it.
using System.Globalization;
using System.Text;
using Ipc;

if (args is not [var address, var count])
{
    Console.Error.WriteLine("usage: producer ADDRESS COUNT|remove");
    return 2;
}
try
{
    if (count == "remove")
    {
        ManagedIpc.RemoveQueue(address);
        return 0;
    }
    using var orders = ManagedIpc.OpenQueue(address);
    for (var i = 1; i <= int.Parse(count, CultureInfo.InvariantCulture); i++)
        orders.Enqueue(Encoding.UTF8.GetBytes($"order {i}"));
    return 0;
}
catch (IpcException e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}
