using System.Reflection;

namespace Ipc.Peer;

/// <summary>The managed and the bound process of a pair, docs/peer-protocol.md.</summary>
internal static class Program
{
    public const int Failed = 1;
    private const int WrongUse = 2;

    private const string Help =
        RuntimeFacts.ProgramName + " plays one side of one cell in .NET. It takes no arguments: `ipc run` starts it and writes the cell, one JSON object on\n"
        + "one line, to its standard input; it answers JSON lines. docs/peer-protocol.md describes both. By hand: `ipc serve`, `ipc drive`.";

    private static int Main(string[] arguments)
    {
        if (arguments.Length == 0)
            return RuntimeFacts.End(Play());
        var asked = arguments is ["--help" or "-h"];
        (asked ? Console.Out : Console.Error).WriteLine(Help);
        return asked ? 0 : WrongUse;
    }

    /// <summary>Plays the cell that standard input brings, to the exit code.</summary>
    public static int Play()
    {
        var control = new Control();
        try
        {
            var cell = Cell.Parse(control.ReadFirstLine());
            // Loads the side's library, which counts the processors it may use: on no side those of a pinned process.
            var description = Describe(cell);
            if (cell.Cpu is { } cpu)
                CpuPin.PinTo(cpu);
            control.Emit(description, EventJson.Default.EnvironmentEvent);
            control.Start();
            Scenarios.Play(cell, control);
            return 0;
        }
        // Whatever went wrong belongs into the one event that the runner waits for.
        catch (Exception e)
        {
            var failure = Failure.From(e);
            control.Emit(new FailedEvent(failure.Status, failure.Message), EventJson.Default.FailedEvent);
            if (e is not (Failure or IpcException))
                Console.Error.WriteLine(e);
            return Failed;
        }
    }

    private static EnvironmentEvent Describe(Cell cell)
    {
#if DEBUG
        const string build = "debug";
#else
        const string build = "release";
#endif
        var compiler = typeof(Program).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().First(a => a.Key == "Compiler").Value!;
        return new EnvironmentEvent(RuntimeFacts.Name, compiler, build, Sides.Library(cell), RuntimeFacts.Settings());
    }
}
