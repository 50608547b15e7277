using System.Globalization;

namespace Ipc.Puppet;

internal static class InFlightVerbs
{
    public static void AddTo(Dictionary<string, Verb> verbs)
    {
        verbs.Add("call-in-flight", CallInFlight);
        verbs.Add("submit-all", SubmitAll);
        verbs.Add("complete-all", CompleteAll);
        verbs.Add("serve-deferred", ServeDeferred);
        verbs.Add("defer-requests", DeferRequests);
    }

    private static string CallInFlight(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, window, most, seed, timeout) = (command.Number(), (int)command.Number(), command.Size(), command.Number(), command.Timeout());
        var (request, reply) = (new byte[most], new byte[most]);
        var inFlight = new Dictionary<ulong, Payload>();
        long bytes = 0;
        ulong submitted = 0;
        for (ulong completed = 0; completed < count; completed++)
        {
            for (; submitted < count && inFlight.Count < window; submitted++)
            {
                var message = Payload.OfSeries(seed, submitted + 1, most);
                message.Fill(request);
                channel.Submit(request.AsSpan(0, message.Length), submitted + 1, timeout);
                inFlight.Add(submitted + 1, message);
            }
            var done = channel.Complete(reply, timeout);
            done.ThrowIfFailed();
            if (!inFlight.TryGetValue(done.Tag, out var expected))
                throw new WrongException($"tag {done.Tag} is not in flight");
            inFlight.Remove(done.Tag);
            expected.Require(reply.AsSpan(0, done.Length));
            bytes += done.Length;
        }
        return bytes.ToString(CultureInfo.InvariantCulture);
    }

    private static string SubmitAll(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, timeout) = (command.Number(), command.Timeout());
        for (ulong i = 0; i < count; i++)
            channel.Submit("in flight"u8, i, timeout);
        return "";
    }

    private static string CompleteAll(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, timeout) = (command.Number(), command.Timeout());
        var reply = new byte[100];
        var seen = new HashSet<ulong>();
        var outcomes = new SortedDictionary<int, int>();
        for (ulong i = 0; i < count; i++)
        {
            var done = channel.Complete(reply, timeout);
            if (done.Tag >= count || !seen.Add(done.Tag))
                throw new WrongException($"tag {done.Tag} came twice");
            outcomes.TryGetValue((int)done.Outcome, out var before);
            outcomes[(int)done.Outcome] = before + 1;
        }
        return string.Join(" ", outcomes.Select(outcome => $"{outcome.Key}:{outcome.Value}"));
    }

    private static string ServeDeferred(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var span = (int)command.Number();
        var waiting = new Stack<(ulong Token, byte[] Request)>();
        while (true)
        {
            var came = true;
            try
            {
                var request = channel.ReceiveRequest(waiting.Count == 0 ? Timeout.Infinite : 5).ToArray();
                waiting.Push((channel.DeferRequest(), request));
            }
            catch (IpcException e) when (e.Status == IpcStatus.PeerClosed && waiting.Count == 0)
            {
                return "";
            }
            catch (IpcException e) when (e.Status == IpcStatus.TimedOut)
            {
                came = false;
            }
            if (came && waiting.Count < span)
                continue;
            while (waiting.Count != 0)
            {
                var next = waiting.Pop();
                channel.ReplyDeferred(next.Token, next.Request);
            }
        }
    }

    private static string DeferRequests(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, timeout) = (command.Number(), command.Timeout());
        for (ulong i = 0; i < count; i++)
        {
            channel.ReceiveRequest(timeout);
            channel.DeferRequest();
        }
        return "";
    }
}
