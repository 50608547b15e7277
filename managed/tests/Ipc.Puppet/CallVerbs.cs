using System.Globalization;
using System.Text;

namespace Ipc.Puppet;

internal static class CallVerbs
{
    public static void AddTo(Dictionary<string, Verb> verbs)
    {
        verbs.Add("call", Call);
        verbs.Add("call-in-place", CallInPlace);
        verbs.Add("call-many", CallMany);
        verbs.Add("ask", Ask);
        verbs.Add("receive-reply", ReceiveReply);
        verbs.Add("serve", Serve);
        verbs.Add("receive-request", ReceiveRequest);
        verbs.Add("reply", Reply);
        verbs.Add("reserve-reply", ReserveReply);
        verbs.Add("commit-reply", CommitReply);
        verbs.Add("fail-request", FailRequest);
    }

    public static string Number(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static string Call(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Payload();
        var reply = new byte[command.Size()];
        var length = channel.Call(message.Bytes(), reply, command.Timeout());
        message.RequireContent(reply.AsSpan(0, length));
        return Number(length);
    }

    private static string CallInPlace(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Payload();
        var reply = channel.CallInPlace(message.Bytes(), command.Timeout());
        message.RequireContent(reply);
        return Number(reply.Length);
    }

    private static string CallMany(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var (count, most, seed, timeout) = (command.Number(), command.Size(), command.Number(), command.Timeout());
        var loan = command.Loan();
        var (request, reply) = (new byte[most], new byte[most]);
        long bytes = 0;
        for (ulong i = 1; i <= count; i++)
        {
            var message = Payload.OfSeries(seed, i, most);
            message.Fill(request);
            CallOnce(channel, message, request, reply, timeout, loan);
            bytes += message.Length;
        }
        return bytes.ToString(CultureInfo.InvariantCulture);
    }

    private static void CallOnce(IpcChannel channel, Payload message, byte[] request, byte[] reply, int timeout, bool loan)
    {
        var sent = request.AsSpan(0, message.Length);
        if (loan)
        {
            message.Require(channel.CallInPlace(sent, timeout));
            channel.Release();
            return;
        }
        var length = channel.Call(sent, reply, timeout);
        message.Require(reply.AsSpan(0, length));
    }

    private static string Ask(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var reply = new byte[command.Size()];
        var expected = command.Expected();
        var timeout = command.Timeout();
        var length = channel.Call(Encoding.UTF8.GetBytes(command.Text()), reply, timeout);
        expected.RequireContent(reply.AsSpan(0, length));
        return Number(length);
    }

    private static string ReceiveReply(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var reply = new byte[command.Size()];
        var expected = command.Expected();
        var length = channel.ReceiveReply(reply);
        expected.RequireContent(reply.AsSpan(0, length));
        return Number(length);
    }

    private static string Serve(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var isEcho = command.Word() == "echo";
        if (HostedPuppet.IsHere)
            HostedPuppet.Serve(channel, isEcho ? nameof(Echo) : nameof(RunScript));
        else
            channel.Serve(isEcho ? Echo : RunScript);
        return "";
    }

    private static void Echo(ReadOnlySpan<byte> request, ReplyWriter reply) => request.CopyTo(reply.Reserve(request.Length));

    private static void RunScript(ReadOnlySpan<byte> request, ReplyWriter reply)
    {
        var script = new Command(Encoding.UTF8.GetString(request));
        switch (script.Word())
        {
            case "reply":
                var message = script.Payload();
                message.Fill(reply.Reserve(message.Length));
                break;
            case "empty":
                break;
            case "reserve-then-fail":
                reply.Reserve(script.Size());
                throw new WrongException(script.Text());
            case "fail":
                throw new WrongException(script.Text());
            case var verb:
                throw new WrongException($"'{verb}' is no script");
        }
    }

    private static string ReceiveRequest(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var expected = command.Expected();
        var request = channel.ReceiveRequest(command.Timeout());
        expected.RequireContent(request);
        return Number(request.Length);
    }

    private static string Reply(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var message = command.Payload();
        channel.Reply(message.Bytes(), command.Timeout());
        return "";
    }

    private static string ReserveReply(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var length = command.Size();
        var message = command.Payload();
        message.Fill(channel.ReserveReply(length, command.Timeout()));
        return "";
    }

    private static string CommitReply(Handles handles, Command command)
    {
        handles.Channel(command.Word()).CommitReply(command.Size(), command.Timeout());
        return "";
    }

    private static string FailRequest(Handles handles, Command command)
    {
        var channel = handles.Channel(command.Word());
        var timeout = command.Timeout();
        channel.FailRequest(command.Text(), timeout);
        return "";
    }
}
