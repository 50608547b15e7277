using Ipc.Lab.Planning;

namespace Ipc.Lab.Results;

/// <summary>Which floor bounds a cell, and where it stands among the figures.</summary>
/// <param name="Name">The floor's name in the registry, or oneway.</param>
/// <param name="Workload">At whose sizes.</param>
/// <param name="OneWayBytes">For one-way scenarios: the message's bytes.</param>
internal sealed record FloorOfCell(string Name, string Workload, int? OneWayBytes, bool Batch)
{
    /// <summary>Two processes that sleep and wake each other, with a message of one cache line.</summary>
    public static FloorOfCell WakeUp { get; } = new("futex", FloorFigures.SmallestSize, null, false);

    /// <summary>The floor of a cell between two processes of these pins; null where none bounds it.</summary>
    public static FloorOfCell? Of(Cell cell, Pins pins)
    {
        if (cell.IsAlone)
            return null;
        var scene = cell.Scene;
        // What a process does until it can call is no round trip, nor is a message that goes to several; and calls that are in flight together share
        // wake-ups, so that none of them waits for one of its own.
        if (scene.Starts || scene.Last || scene.InFlight > 1)
            return null;
        var takingTurns = pins.For(scene).AreOne;
        if (scene.Receiver is null)
        {
            var floor = RoundTripFloor(cell.Transport);
            return new FloorOfCell(takingTurns ? OfTakingTurns(floor) : floor, cell.Workload, null, false);
        }
        // That of one way spins at both ends, which takes whole time slices on one CPU.
        return takingTurns ? null : new FloorOfCell("oneway", cell.Workload, cell.Load.RequestBytes, scene.Batch > 0);
    }

    // On one CPU nobody can spin for the other: slots are handed over by sleeping.
    private static string OfTakingTurns(string floor) => floor == "slot" ? "futex" : floor;

    private static string RoundTripFloor(string spec)
    {
        var transport = Registry.Transport(TransportSpec.IdOf(spec));
        return transport.FloorWhen?.FirstOrDefault(when => TransportSpec.HasOption(spec, when.Key)).Value ?? transport.Floor;
    }

    /// <summary>The figure in nanoseconds, or null if it was not measured.</summary>
    public double? In(FloorFigures? figures) =>
        OneWayBytes is { } bytes ? figures?.ForOneWay(bytes, Batch) : figures?.For(Name, Workload);
}
