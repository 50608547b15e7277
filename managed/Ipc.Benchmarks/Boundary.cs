using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;

namespace Ipc.Benchmarks;

/// <summary>What crossing from C# into the native library, which lies beside this program, costs with and without the runtime's
/// change of mode.</summary>
public partial class Boundary
{
    [LibraryImport("ipc", EntryPoint = "ipc_abi_version")]
    private static partial uint WithTransition();

    [LibraryImport("ipc", EntryPoint = "ipc_abi_version"), SuppressGCTransition]
    private static partial uint WithoutTransition();

    [Benchmark(Baseline = true)]
    public uint PInvoke() => WithTransition();

    [Benchmark]
    public uint PInvokeSuppressGCTransition() => WithoutTransition();
}
