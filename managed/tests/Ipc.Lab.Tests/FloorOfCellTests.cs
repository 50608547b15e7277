using Ipc.Lab.Planning;
using Ipc.Lab.Results;
using Xunit;

namespace Ipc.Lab.Tests;

/// <summary>Which floor a cell is held against.</summary>
public sealed class FloorOfCellTests
{
    // Sleeping sides are held against a wake-up, spinning ones against a line that moves; calls in flight together share what the floor has one of each.
    [Theory]
    [InlineData("shm-event", "call", "futex"), InlineData("shm-event?wait=adaptive", "call", "slot"), InlineData("shm-event?wait=spin", "call", "slot")]
    [InlineData("unix", "pipelined-1", "unix"), InlineData("unix", "pipelined-8", null), InlineData("shm", "pipelined", null)]
    public void FloorsBoundWhatWaitsAsTheyDo(string transport, string scenario, string? floor) =>
        Assert.Equal(floor, FloorOfCell.Of(new Cell(transport, "native:native", "raw", scenario, "64"), new Pins(0, 1))?.Name);

    [Fact]
    public void OnOneCpuSleepersAreTheFloor()
    {
        var pins = new Pins(1, 0);
        var cell = new Cell("shm", "native:managed", "raw", "one-cpu", "64");
        var call = cell with { Scenario = "call" };
        Assert.Equal(("futex", "slot"), (FloorOfCell.Of(cell, pins)!.Name, FloorOfCell.Of(call, pins)!.Name));
        // With the whole run on one CPU, too; and one-way messages, whose floor spins, have none there.
        var one = new Pins(1, 1);
        var oneWay = call with { Scenario = "oneway", Workload = "oneway-32" };
        Assert.Equal(("futex", "oneway"), (FloorOfCell.Of(call, one)!.Name, FloorOfCell.Of(oneWay, pins)!.Name));
        Assert.Null(FloorOfCell.Of(oneWay, one));
    }
}
