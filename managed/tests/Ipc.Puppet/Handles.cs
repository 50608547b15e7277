using System.Collections.Concurrent;

namespace Ipc.Puppet;

/// <summary>The listeners, channels and queues of this puppet, by the names the suite gave them.</summary>
internal sealed class Handles
{
    private readonly ConcurrentDictionary<string, IpcListener> _listeners = new();
    private readonly ConcurrentDictionary<string, IpcChannel> _channels = new();
    private readonly ConcurrentDictionary<string, IpcQueue> _queues = new();

    public void Add(string name, IpcListener listener)
    {
        if (!_listeners.TryAdd(name, listener))
            throw new WrongException($"there is already a listener '{name}'");
    }

    public void Add(string name, IpcChannel channel)
    {
        if (!_channels.TryAdd(name, channel))
            throw new WrongException($"there is already a channel '{name}'");
    }

    public void Add(string name, IpcQueue queue)
    {
        if (!_queues.TryAdd(name, queue))
            throw new WrongException($"there is already a queue '{name}'");
    }

    public IpcListener Listener(string name) =>
        _listeners.TryGetValue(name, out var listener) ? listener : throw new WrongException($"there is no listener '{name}'");

    public IpcChannel Channel(string name) =>
        _channels.TryGetValue(name, out var channel) ? channel : throw new WrongException($"there is no channel '{name}'");

    public IpcQueue Queue(string name) =>
        _queues.TryGetValue(name, out var queue) ? queue : throw new WrongException($"there is no queue '{name}'");

    public void Close(string name)
    {
        if (_channels.TryGetValue(name, out var channel))
            channel.Close();
        else if (_queues.TryGetValue(name, out var queue))
            queue.Close();
        else
            Listener(name).Close();
    }

    public void Free(string name)
    {
        if (_channels.TryRemove(name, out var channel))
            channel.Dispose();
        else if (_listeners.TryRemove(name, out var listener))
            listener.Dispose();
        else if (_queues.TryRemove(name, out var queue))
            queue.Dispose();
        else
            throw new WrongException($"there is nothing called '{name}'");
    }

    public void FreeAll()
    {
        foreach (var name in _channels.Keys.Concat(_listeners.Keys).Concat(_queues.Keys))
            Free(name);
    }

    /// <summary>At any time, whatever the workers do: removes this puppet's names from the file system.</summary>
    public void CloseAll()
    {
        foreach (var channel in _channels.Values)
            channel.Close();
        foreach (var listener in _listeners.Values)
            listener.Close();
        foreach (var queue in _queues.Values)
            queue.Close();
    }
}
