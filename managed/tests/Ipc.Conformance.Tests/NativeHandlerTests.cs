using System.Runtime.InteropServices;
using System.Text;
using Ipc.Conformance.Puppets;
using Ipc.Native;
using Xunit;

namespace Ipc.Conformance;

/// <summary>A process of .NET whose handler is native code (native/tests/handler), called by the native library without .NET in between.</summary>
[Trait("system", "linux")]
public sealed class NativeHandlerTests
{
    private const int Patience = 20_000;

    // Read when the library is first needed in this process, so it must be set before.
    static NativeHandlerTests() => BoundLibrary.Choose();

    [Theory, InlineData("unix"), InlineData("shm"), InlineData("fifo")]
    public async Task ItAnswersAChannelThatDotNetAccepted(string transport)
    {
        using var listener = NativeIpc.Listen($"{transport}://conformance-native-handler-{Environment.ProcessId}");
        // After the native library, which it then shares with this assembly.
        var code = NativeLibrary.Load(Path.Combine(Path.GetDirectoryName(PuppetProgram.NativeLibrary)!, "libipc-test-handler.so"));
        var handler = NativeLibrary.GetExport(code, "reversed");
        var refused = Marshal.StringToCoTaskMemUTF8("no");
        try
        {
            var address = listener.Address;
            var calling = Task.Run(() => Call(address));
            using var channel = listener.Accept(Patience);
            Serve(channel, handler, refused);
            await calling;
        }
        finally
        {
            Marshal.FreeCoTaskMem(refused);
        }
    }

    private static void Call(string address)
    {
        using var client = ManagedIpc.Connect(address, Patience);
        var reply = new byte[100];
        for (var i = 0; i < 100; i++)
            Assert.Equal("DSURUE", Encoding.UTF8.GetString(reply, 0, client.Call("EURUSD"u8, reply, Patience)));
        var failed = Assert.Throws<IpcException>(() => client.Call("no"u8, reply, Patience));
        Assert.Equal(IpcStatus.HandlerFailed, failed.Status);
        Assert.Contains("refused by native code", failed.Message, StringComparison.Ordinal);
        Assert.Equal(0, client.Call([], reply, Patience));
    }

    [Fact]
    public void AChannelThatIsPureDotNetHasNoHandle()
    {
        using var listener = ManagedIpc.Listen($"unix://conformance-no-handle-{Environment.ProcessId}");
        using var client = ManagedIpc.Connect(listener.Address, Patience);
        Assert.Equal(IpcStatus.InvalidArgument, Assert.Throws<IpcException>(() => NativeIpc.HandleOf(client)).Status);
    }

    [Fact]
    public async Task ClosingFromAnotherThreadEndsServing()
    {
        using var listener = NativeIpc.Listen($"unix://conformance-native-closing-{Environment.ProcessId}");
        using var client = ManagedIpc.Connect(listener.Address, Patience);
        var channel = listener.Accept(Patience);
        Assert.NotEqual(0, NativeIpc.HandleOf(channel));
        var closing = Task.Run(async () =>
        {
            await Task.Delay(50);
            channel.Dispose();
        });
        Assert.Equal(IpcStatus.Closed, Assert.Throws<IpcException>(() => Serve(channel, NeverCalled, 0)).Status);
        await closing;
    }

    private static unsafe nint NeverCalled => (nint)(delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int>)&Never;

    private static unsafe void Serve(IpcChannel channel, nint handler, nint user) =>
        NativeIpc.Serve(channel, (delegate* unmanaged[Cdecl]<void*, void*, nuint, void*, int>)handler, (void*)user);

    [UnmanagedCallersOnly(CallConvs = [typeof(System.Runtime.CompilerServices.CallConvCdecl)])]
    private static unsafe int Never(void* user, void* request, nuint length, void* writer) => (int)IpcStatus.HandlerFailed;
}
