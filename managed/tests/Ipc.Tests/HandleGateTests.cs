namespace Ipc.Tests;

/// <summary>The gate by itself: nobody is inside when AwaitEmpty returns, however they went in.</summary>
public sealed class HandleGateTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(16)]
    public void NobodyIsInsideAfterTheEnd(int doors)
    {
        for (var round = 0; round < 200; round++)
        {
            var gate = new HandleGate(doors);
            var (alive, stop, wrong) = (true, false, false);
            var all = Enumerable.Range(0, Math.Min(doors, 4)).Select(me => Aside.Run(() =>
            {
                while (!Volatile.Read(ref stop))
                {
                    var (any, byTheDoor) = (doors == 16, false);
                    var door = 0;
                    if (any)
                        door = gate.EnterAny();
                    else
                        byTheDoor = gate.Enter(me);
                    if (!Volatile.Read(ref stop))
                    {
                        for (var look = 0; look < 10; look++)
                            wrong |= !Volatile.Read(ref alive);
                    }
                    if (any)
                        gate.LeaveAny(door);
                    else
                        gate.Leave(me, byTheDoor);
                }
            })).ToArray();
            Thread.SpinWait(round * 50);
            Volatile.Write(ref stop, true);
            Assert.True(gate.TryEnd());
            Assert.False(gate.TryEnd());
            gate.AwaitEmpty();
            Volatile.Write(ref alive, false);
            Assert.False(gate.TryEnterBeside());
            foreach (var one in all)
                one.Join();
            Assert.False(wrong);
        }
    }
}
