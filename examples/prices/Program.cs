// Asks for cells as a spreadsheet would: prices-client ADDRESS "ROW COLUMN"...
using System.Text;
using Ipc;

if (args.Length < 2)
{
    Console.Error.WriteLine("usage: prices-client ADDRESS \"ROW COLUMN\"...");
    return 2;
}
try
{
    using var server = ManagedIpc.Connect(args[0], timeoutMilliseconds: 1000);
    var reply = new byte[100];
    foreach (var cell in args[1..])
    {
        try
        {
            var length = server.Call(Encoding.UTF8.GetBytes(cell), reply, timeoutMilliseconds: 1000);
            Console.WriteLine($"{cell}: {Encoding.UTF8.GetString(reply, 0, length)}");
        }
        // The server answered, and its answer is that it cannot: the connection stays good.
        catch (IpcException e) when (e.Status == IpcStatus.HandlerFailed)
        {
            Console.WriteLine($"{cell}: {e.Message}");
        }
    }
    return 0;
}
catch (IpcException e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}
