namespace Ipc.Tests;

/// <summary>What a handler passes that a test holds up: it says that it has been entered and waits to be let go.</summary>
internal sealed class Gate : IDisposable
{
    private readonly ManualResetEventSlim _entered = new();
    private readonly ManualResetEventSlim _open = new();

    public void Pass()
    {
        _entered.Set();
        _open.Wait();
    }

    public bool WaitUntilEntered() => _entered.Wait(Pair.Patience);

    public void Open() => _open.Set();

    public void Dispose()
    {
        _entered.Dispose();
        _open.Dispose();
    }
}
