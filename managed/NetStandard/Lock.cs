namespace System.Threading;

/// <summary>What the lock statement locks; the compiler knows it by this name.</summary>
internal sealed class Lock
{
    private readonly object _monitor = new();

    public Scope EnterScope()
    {
        Monitor.Enter(_monitor);
        return new Scope(_monitor);
    }

    public readonly ref struct Scope(object monitor)
    {
        public void Dispose() => Monitor.Exit(monitor);
    }
}
