// A service that tells one client what happens: notices-service [ADDRESS].
using System.Text;
using Ipc;

using var listener = ManagedIpc.Listen(args is [var address] ? address : "unix://notices");
Console.WriteLine($"serving {listener.Address}");
using var client = listener.Accept();
foreach (var notice in new[] { "build started", "tests passed", "packages made" })
{
    Thread.Sleep(50); // what there is to do in between
    client.Send(Encoding.UTF8.GetBytes(notice));
}
