using System.Collections.Concurrent;

namespace Ipc.Puppet;

/// <summary>A thread that carries out its commands one after another and answers each with one line.</summary>
internal sealed class Worker
{
    private readonly string _name;
    private readonly Handles _handles;
    private readonly Dictionary<string, Verb> _verbs;
    private readonly TextWriter _answers;
    private readonly BlockingCollection<string> _lines = [];

    /// <param name="name">What its answers begin with.</param>
    /// <param name="handles">Shared by all workers.</param>
    /// <param name="verbs">Read only.</param>
    /// <param name="answers">Must be synchronised: each answer is one WriteLine.</param>
    public Worker(string name, Handles handles, Dictionary<string, Verb> verbs, TextWriter answers)
    {
        (_name, _handles, _verbs, _answers) = (name, handles, verbs, answers);
        new Thread(Run) { IsBackground = true, Name = name }.Start();
    }

    public void Give(string line) => _lines.Add(line);

    private void Run()
    {
        foreach (var line in _lines.GetConsumingEnumerable())
            _answers.WriteLine($"{_name} {CarryOut(line).Replace('\n', ' ')}");
    }

    private string CarryOut(string line)
    {
        try
        {
            var command = new Command(line);
            var name = command.Word();
            if (!_verbs.TryGetValue(name, out var verb))
                return $"wrong there is no command '{name}'";
            var result = verb(_handles, command);
            return result.Length == 0 ? "ok" : $"ok {result}";
        }
        catch (IpcException e)
        {
            return $"error {(int)e.Status} {e.Message}";
        }
        catch (WrongException e)
        {
            return $"wrong {e.Message}";
        }
        // Anything else a library call throws breaks its contract: the suite shall see all of it.
        catch (Exception e)
        {
            return $"wrong unexpected {e}";
        }
    }
}
