using System.Globalization;

namespace Ipc.Puppet;

/// <summary>Carries out one command and returns what follows `ok`.</summary>
internal delegate string Verb(Handles handles, Command command);

internal static class ConnectionVerbs
{
    public static void AddTo(Dictionary<string, Verb> verbs, IIpc side)
    {
        verbs.Add("listen", (handles, command) =>
        {
            var name = command.Word();
            var listener = side.Listen(command.Word());
            handles.Add(name, listener);
            return listener.Address;
        });
        verbs.Add("connect", (handles, command) =>
        {
            var name = command.Word();
            handles.Add(name, side.Connect(command.Word(), command.Timeout()));
            return "";
        });
        verbs.Add("accept", Accept);
        verbs.Add("accept-and-end", AcceptAndEnd);
        verbs.Add("limit", (handles, command) => handles.Channel(command.Word()).MaxMessageLength.ToString(CultureInfo.InvariantCulture));
        verbs.Add("close", Close);
        verbs.Add("free", Free);
        verbs.Add("reset", Reset);
    }

    private static string Accept(Handles handles, Command command)
    {
        var listener = handles.Listener(command.Word());
        var name = command.Word();
        handles.Add(name, listener.Accept(command.Timeout()));
        return "";
    }

    // On a thread of its own, which ends some milliseconds later.
    private static string AcceptAndEnd(Handles handles, Command command)
    {
        var listener = handles.Listener(command.Word());
        var name = command.Word();
        var timeout = command.Timeout();
        var lingering = command.Timeout();
        var accepted = new TaskCompletionSource<IpcChannel>();
        new Thread(() =>
        {
            try
            {
                accepted.SetResult(listener.Accept(timeout));
            }
            catch (IpcException e)
            {
                accepted.SetException(e);
            }
            Thread.Sleep(lingering);
        })
        { IsBackground = true }.Start();
        handles.Add(name, accepted.Task.GetAwaiter().GetResult());
        return "";
    }

    private static string Close(Handles handles, Command command)
    {
        handles.Close(command.Word());
        return "";
    }

    private static string Free(Handles handles, Command command)
    {
        handles.Free(command.Word());
        return "";
    }

    private static string Reset(Handles handles, Command command)
    {
        handles.FreeAll();
        return "";
    }
}
