using System.Collections.Concurrent;
using System.Globalization;

namespace Ipc.Puppet;

internal static class BroadcastVerbs
{
    // These stay until the process ends: what the suite wants to see is how they end then.
    private static readonly ConcurrentDictionary<string, Publisher> s_publishers = new();
    private static readonly ConcurrentDictionary<string, Subscriber> s_subscribers = new();

    public static void AddTo(Dictionary<string, Verb> verbs, IIpc side)
    {
        verbs.Add("publisher", (_, command) =>
        {
            var name = command.Word();
            return Keep(s_publishers, name, side.Publish(command.Word()));
        });
        verbs.Add("subscriber", (_, command) =>
        {
            var name = command.Word();
            return Keep(s_subscribers, name, side.Subscribe(command.Word(), command.Timeout()));
        });
        verbs.Add("publish", Publish);
        verbs.Add("subscribers", (_, command) => Named(s_publishers, command.Word()).Subscribers.ToString(CultureInfo.InvariantCulture));
        verbs.Add("take", Take);
    }

    private static string Publish(Handles handles, Command command)
    {
        var publisher = Named(s_publishers, command.Word());
        var message = command.Payload();
        publisher.Publish(message.Bytes(), command.Timeout());
        return "";
    }

    private static string Take(Handles handles, Command command)
    {
        var subscriber = Named(s_subscribers, command.Word());
        var buffer = new byte[command.Size()];
        var message = command.Expected();
        var length = subscriber.Receive(buffer, out var lost, command.Timeout());
        message.RequireContent(buffer.AsSpan(0, length));
        return FormattableString.Invariant($"{length} {lost}");
    }

    private static string Keep<T>(ConcurrentDictionary<string, T> handles, string name, T handle) =>
        handles.TryAdd(name, handle) ? "" : throw new WrongException($"there is already a '{name}'");

    private static T Named<T>(ConcurrentDictionary<string, T> handles, string name) =>
        handles.TryGetValue(name, out var handle) ? handle : throw new WrongException($"there is no publisher or subscriber '{name}'");
}
