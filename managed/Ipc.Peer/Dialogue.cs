using Ipc.Codecs;

namespace Ipc.Peer;

/// <summary>What the two ends of an object exchange say and expect.</summary>
/// <param name="Request">Made once; the client stamps it for every exchange.</param>
/// <param name="Reply">The reply it gets, or null if the server can only refuse it.</param>
/// <param name="Answer">The server's reply to a request, before it is stamped; <see cref="UnknownNameException"/> fails the call.</param>
/// <param name="IsRightRequest">Whether a request says what it should, sequence apart.</param>
/// <param name="IsRightReply">The same for replies.</param>
internal sealed record Dialogue<TRequest, TReply>(
    TRequest Request, TReply? Reply, Func<TRequest, TReply> Answer, Func<TRequest, bool> IsRightRequest, Func<TReply, bool> IsRightReply)
    where TRequest : class, ISequenced
    where TReply : class, ISequenced;

/// <summary>A request asks for something that is not there; the message is for the client's reader.</summary>
internal sealed class UnknownNameException(string message) : Exception(message);

/// <summary>The dialogues of the workloads.</summary>
internal static class Dialogues
{
    /// <summary>Generated data: the server sends the same prepared reply each time.</summary>
    public static Dialogue<TRequest, TReply> Generated<TAccess, TRequest, TReply>(Cell cell)
        where TAccess : struct, IObjectAccess<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced
    {
        var request = PayloadData.Request(cell.Seed, cell.Workload.N);
        var reply = PayloadData.Reply(cell.Seed, cell.Workload.N);
        var prepared = default(TAccess).BuildReply(reply);
        return new(default(TAccess).BuildRequest(request), prepared, _ => prepared,
            received => default(TAccess).SameRequest(received, request), received => default(TAccess).SameReply(received, reply));
    }

    /// <summary>Workload `table`: the server looks each request up in the file.</summary>
    public static Dialogue<TRequest, TReply> FromTable<TAccess, TRequest, TReply>(TableEntry entry)
        where TAccess : struct, IObjectAccess<TRequest, TReply>
        where TRequest : class, ISequenced
        where TReply : class, ISequenced
    {
        var table = Table.Read(entry);
        var request = new Request { Sequence = 0, Name = "table", Ids = [.. entry.Ids], Fields = [.. entry.Fields] };
        var reply = AnswerOrNull(table, request);
        return new(default(TAccess).BuildRequest(request), reply is null ? null : default(TAccess).BuildReply(reply),
            received => default(TAccess).BuildReply(table.Answer(default(TAccess).RequestToDomain(received))),
            received => default(TAccess).SameRequest(received, request), received => reply is not null && default(TAccess).SameReply(received, reply));
    }

    /// <summary>Workload `ping` as JSON.</summary>
    public static Dialogue<TextMessage, TextMessage> Texts(string question, string answer)
    {
        var prepared = new TextMessage { Sequence = 0, Text = answer };
        return new(new TextMessage { Sequence = 0, Text = question }, prepared, _ => prepared,
            received => received.Text == question, received => received.Text == answer);
    }

    private static Reply? AnswerOrNull(Table table, Request request)
    {
        try
        {
            return table.Answer(request);
        }
        catch (UnknownNameException)
        {
            // Not this side's to report: the call itself must fail, with the server's error message.
            return null;
        }
    }
}
