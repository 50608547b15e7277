using System.Buffers.Binary;
using System.Diagnostics;
using System.Text;
using Ipc.Conformance.Puppets;
using Xunit;

namespace Ipc.Conformance;

/// <summary>Library ipc-hosting, by programs that do nothing else (interop/hosting/host): what handlers can do, and what is said when .NET or
/// the handler cannot be had.</summary>
[Trait("system", "linux")]
public sealed class HostingTests : IDisposable
{
    private const int Patience = 20_000;
    private const string Type = "Ipc.Hosted.Handlers";

    private static readonly string s_server = Path.Combine(Path.GetDirectoryName(PuppetProgram.NativeHost)!, "ipc-hosted-server");
    private static readonly string s_assembly =
        Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "../../Ipc.Hosted.Handlers/release/Ipc.Hosted.Handlers.dll"));
    private static int s_counter;

    private readonly string _folder = Directory.CreateTempSubdirectory("ipc-hosting-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [HostedTheory, InlineData("unix"), InlineData("shm")]
    public void AServerInCppAnswersByDotNet(string transport)
    {
        using var server = new Server(transport, "Capitals");
        using var client = ManagedIpc.Connect(server.Address, Patience);
        var reply = new byte[100];
        Assert.Equal("EURUSD", Encoding.UTF8.GetString(reply, 0, client.Call("eurusd"u8, reply, Patience)));
        Assert.Equal(0, client.Call([], reply, Patience));
        var refused = Assert.Throws<IpcException>(() => client.Call("fail"u8, reply, Patience));
        Assert.Equal(IpcStatus.HandlerFailed, refused.Status);
        Assert.Contains("no capitals for 'fail'", refused.Message, StringComparison.Ordinal);
        var tooLong = Assert.Throws<IpcException>(() => client.Call("long"u8, reply, Patience));
        Assert.Equal(IpcStatus.HandlerFailed, tooLong.Status);
        Assert.Contains("1073741824", tooLong.Message, StringComparison.Ordinal);
        Assert.Equal(3, client.Call("abc"u8, reply, Patience));
    }

    [HostedFact]
    public void AHandlerMayBeMadeWithAState()
    {
        using var server = new Server("unix", "Counter");
        using var first = ManagedIpc.Connect(server.Address, Patience);
        using var second = ManagedIpc.Connect(server.Address, Patience);
        var reply = new byte[1];
        for (byte i = 1; i <= 4; i++)
        {
            Assert.Equal(1, (i % 2 == 0 ? first : second).Call([], reply, Patience));
            Assert.Equal(i, reply[0]);
        }
    }

    // Its handler, which learns of that when it replies, has done nothing wrong.
    [HostedTheory, InlineData("unix"), InlineData("shm")]
    public async Task AClientThatWasCutOffIsNoFailureOfItsHandler(string transport)
    {
        using var server = new Server(transport, "WhenTold");
        using var client = ManagedIpc.Connect(server.Address, Patience);
        var calling = Task.Run(() => Assert.Throws<IpcException>(() => client.Call(Encoding.UTF8.GetBytes(_folder), new byte[1], Patience)));
        Assert.True(SpinWait.SpinUntil(() => File.Exists(Path.Combine(_folder, "entered")), Patience));
        var ending = server.EndAsync();
        Assert.Equal(IpcStatus.PeerClosed, (await calling).Status);
        await File.WriteAllTextAsync(Path.Combine(_folder, "go"), "");
        Assert.Equal("", await ending);
    }

    [HostedFact]
    public void ACallAllocatesNothingInDotNet()
    {
        using var server = new Server("unix", "Allocated");
        using var client = ManagedIpc.Connect(server.Address, Patience);
        var reply = new byte[sizeof(long)];
        const int FirstCalls = 100; // compile, and make what the thread keeps
        for (var i = 0; i < FirstCalls; i++)
            client.Call([], reply, Patience);
        for (var i = 0; i < 1000; i++)
        {
            client.Call([], reply, Patience);
            Assert.Equal(0, BinaryPrimitives.ReadInt64LittleEndian(reply));
        }
    }

    [HostedTheory]
    [InlineData("Nobody.Here", "Capitals", "there is no type 'Nobody.Here'")]
    [InlineData(Type, "Missing", "there is no static method 'Missing' in 'Ipc.Hosted.Handlers'")]
    [InlineData(Type, "Wrong", "is no handler: a handler is static void NAME(ReadOnlySpan<byte> request, ReplyWriter reply)")]
    [InlineData(Type, "Broken", "threw InvalidOperationException: no handler today")]
    public void AHandlerThatCannotBeHad(string type, string method, string said) =>
        Assert.Contains(said, Refusal(s_server, s_assembly, type, method, "unix://never"), StringComparison.Ordinal);

    [HostedTheory]
    [InlineData("Nobody.Here", "Wrong", "there is no type 'Nobody.Here'")]
    [InlineData(Type, "Missing", "there is no 'Ipc.Hosted.Handlers.Missing'")]
    [InlineData(Type, "Wrong", "mark it [UnmanagedCallersOnly]")]
    public void AFunctionThatCannotBeHad(string type, string method, string said) =>
        Assert.Contains(said, Refusal(PuppetProgram.NativeHost, s_assembly, type, method), StringComparison.Ordinal);

    [HostedFact]
    public void AnAssemblyThatDoesNotExist() =>
        Assert.Contains("does not exist: give the path of the .dll", Refusal(PuppetProgram.NativeHost, Path.Combine(_folder, "gone.dll"), Type, "Wrong"),
            StringComparison.Ordinal);

    [HostedFact]
    public void AnAssemblyWithoutItsRuntimeConfig()
    {
        var alone = Path.Combine(_folder, "Ipc.Hosted.Handlers.dll");
        File.Copy(s_assembly, alone);
        Assert.Contains("<EnableDynamicLoading>true</EnableDynamicLoading>", Refusal(s_server, alone, Type, "Capitals", "unix://never"),
            StringComparison.Ordinal);
        File.WriteAllText(Path.ChangeExtension(alone, ".runtimeconfig.json"), "{ this is no JSON");
        Assert.Contains("the runtime that '", Refusal(s_server, alone, Type, "Capitals", "unix://never"), StringComparison.Ordinal);
        File.WriteAllText(Path.ChangeExtension(alone, ".runtimeconfig.json"),
            """{ "runtimeOptions": { "framework": { "name": "Microsoft.NETCore.App", "version": "99.0.0" } } }""");
        Assert.Contains("99.0.0", Refusal(s_server, alone, Type, "Capitals", "unix://never"), StringComparison.Ordinal);
        File.Copy(Path.ChangeExtension(s_assembly, ".runtimeconfig.json"), Path.ChangeExtension(alone, ".runtimeconfig.json"), overwrite: true);
        Assert.Contains("has no Ipc.dll in its folder", Refusal(s_server, alone, Type, "Capitals", "unix://never"), StringComparison.Ordinal);
        File.WriteAllText(alone, "this is no assembly");
        Assert.Contains("is no .NET assembly", Refusal(PuppetProgram.NativeHost, alone, Type, "Wrong"), StringComparison.Ordinal);
    }

    [HostedFact]
    public void WithoutARuntime() =>
        Assert.Contains("no .NET runtime was found", RefusalWith(_folder, s_server, s_assembly, Type, "Capitals", "unix://never"), StringComparison.Ordinal);

    private static string Refusal(string program, params string[] arguments) => RefusalWith(null, program, arguments);

    private static string RefusalWith(string? dotnetRoot, string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true, RedirectStandardInput = true };
        if (dotnetRoot is not null)
            start.Environment["DOTNET_ROOT"] = start.Environment["DOTNET_ROOT_X64"] = dotnetRoot;
        using var process = Process.Start(start)!;
        process.StandardInput.Close();
        var said = process.StandardError.ReadToEnd();
        Assert.True(process.WaitForExit(Patience));
        Assert.Equal(1, process.ExitCode);
        return said;
    }

    /// <summary>A server in C++ with a handler of .NET.</summary>
    private sealed class Server : IDisposable
    {
        private readonly Process _process;

        public Server(string transport, string method)
        {
            var name = $"{transport}://hosting-{Environment.ProcessId}-{Interlocked.Increment(ref s_counter)}";
            var start = new ProcessStartInfo(s_server, [s_assembly, Type, method, name])
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            };
            start.Environment["DOTNET_EnableDiagnostics"] = "0";
            _process = Process.Start(start)!;
            Address = _process.StandardOutput.ReadLine() ?? throw new InvalidOperationException("the server ended before it listened");
        }

        public string Address { get; }

        /// <summary>Has the server stop, which waits for its handlers, and gives what it said was wrong until then.</summary>
        public Task<string> EndAsync()
        {
            _process.StandardInput.Close();
            return _process.StandardError.ReadToEndAsync();
        }

        public void Dispose()
        {
            _process.StandardInput.Close();
            var ended = _process.WaitForExit(Patience);
            if (!ended)
                _process.Kill();
            Assert.True(ended, "the server did not end");
            Assert.Equal(0, _process.ExitCode);
            _process.Dispose();
        }
    }
}

/// <summary>A fact that needs the native process which .NET code is brought into.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class HostedFactAttribute : FactAttribute
{
    public HostedFactAttribute() => Skip = new HostedTheoryAttribute().Skip;
}
