using System.Diagnostics;

namespace Ipc.Tests;

/// <summary>A program started by one that uses the library finds none of its descriptors open.</summary>
public sealed class CloseOnExecTests
{
    private static string DescriptorsAfterExec()
    {
        using var listing = Process.Start(new ProcessStartInfo("ls", ["/proc/self/fd"]) { RedirectStandardOutput = true })!;
        var found = listing.StandardOutput.ReadToEnd();
        listing.WaitForExit();
        return found;
    }

    [Fact]
    public void NoDescriptorIsInherited()
    {
        var name = $"exec-{Guid.NewGuid():N}";
        var before = DescriptorsAfterExec();
        var opened = new List<IDisposable>();
        try
        {
            foreach (var address in new[] { $"pipe://{name}", $"unix://{name}", $"fifo://{name}", $"shm://{name}", $"shm-event://{name}", "tcp://127.0.0.1:0" })
            {
                var listener = ManagedIpc.Listen(address);
                opened.Add(listener);
                var connecting = Aside.Run(() => ManagedIpc.Connect(listener.Address, Pair.Patience));
                opened.Add(listener.Accept(Pair.Patience));
                opened.Add(connecting.Join());
            }
            opened.Add(ManagedIpc.OpenQueue($"queue://{name}", Pair.Patience));
            opened.Add(ManagedIpc.OpenQueue($"ring://{name}", Pair.Patience));
            opened.Add(ManagedIpc.Publish($"broadcast://{name}"));
            opened.Add(ManagedIpc.Subscribe($"broadcast://{name}", Pair.Patience));
            Assert.Equal(before, DescriptorsAfterExec());
        }
        finally
        {
            opened.ForEach(each => each.Dispose());
            ManagedIpc.RemoveQueue($"queue://{name}");
        }
    }
}
