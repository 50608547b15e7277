using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;

// The steps of a message one by one, on one thread that plays both ends: what remains is what our own code costs.
//   dotnet artifacts/bin/Ipc.Benchmarks/release/Ipc.Benchmarks.dll [--filter '*Boundary*'] [--job dry]
//   dotnet artifacts/bin/Ipc.Benchmarks/release/Ipc.Benchmarks.dll --asynchronous     the figures of docs/dotnet.md
//   dotnet artifacts/bin/Ipc.Benchmarks/release/Ipc.Benchmarks.dll --telemetry        those of metrics there
// In-process, because a benchmark's own build would have to find this repository's settings and native library again.
if (args is ["--asynchronous"])
    return await Ipc.Benchmarks.AsynchronousFigures.Run();
if (args is ["--telemetry"])
    return await Ipc.Benchmarks.TelemetryFigures.Run();
var config = ManualConfig.Create(DefaultConfig.Instance)
    .AddJob(Job.ShortRun.WithToolchain(InProcessEmitToolchain.Instance).AsDefault())
    .AddDiagnoser(MemoryDiagnoser.Default)
    .HideColumns(Column.Job, Column.Toolchain)
    .WithArtifactsPath(Path.Combine(Path.GetTempPath(), $"ipc-benchmarks-{Environment.ProcessId}"));
var summaries = BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args.Length == 0 ? ["--filter", "*"] : args, config);
return summaries.Any(s => s.HasCriticalValidationErrors || s.Reports.Any(r => !r.Success)) ? 1 : 0;
