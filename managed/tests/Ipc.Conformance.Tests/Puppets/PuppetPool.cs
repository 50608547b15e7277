using System.Collections.Concurrent;

namespace Ipc.Conformance.Puppets;

/// <summary>Puppets that wait for the next case, so that only a case that kills one pays for a new process.
/// They end with this process, because their standard input then ends.</summary>
internal static class PuppetPool
{
    private static readonly ConcurrentDictionary<string, ConcurrentBag<PuppetProcess>> s_idle = new();

    public static PuppetProcess Rent(string side)
    {
        while (Idle(side).TryTake(out var puppet))
        {
            if (!puppet.IsDead)
                return puppet;
            puppet.Dispose();
        }
        return new PuppetProcess(side);
    }

    /// <summary>Takes back a puppet that has been reset, or a dead one.</summary>
    public static void Return(PuppetProcess puppet)
    {
        if (puppet.IsDead)
            puppet.Dispose();
        else
            Idle(puppet.Side).Add(puppet);
    }

    private static ConcurrentBag<PuppetProcess> Idle(string side) => s_idle.GetOrAdd(side, _ => []);
}
