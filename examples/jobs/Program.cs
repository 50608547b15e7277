// A service that works on long jobs: jobs-service [ADDRESS], until standard input ends. Requests are text:
//   "start STEPS" -> the job's number      "progress NUMBER" -> "DONE/STEPS" and "cancelled" if it was      "cancel NUMBER"
// A call is short even when the work is long, so that one connection can watch many jobs and a client may come back later.
using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Ipc;

var jobs = new ConcurrentDictionary<int, Job>();
var last = 0;

string Answer(string request)
{
    var (verb, number) = request.Split(' ') is [var first, var second] && int.TryParse(second, CultureInfo.InvariantCulture, out var parsed)
        ? (first, parsed)
        : throw new ArgumentException($"'{request}' is no request");
    if (verb == "start")
    {
        var id = Interlocked.Increment(ref last);
        jobs[id] = new Job(number);
        return id.ToString(CultureInfo.InvariantCulture);
    }
    var job = jobs.TryGetValue(number, out var found) ? found : throw new ArgumentException($"no job {number}");
    if (verb == "cancel")
        job.Cancel();
    return job.ToString();
}

using var server = new IpcServer(args is [var address] ? address : "unix://jobs", (request, reply) =>
{
    var text = Encoding.UTF8.GetBytes(Answer(Encoding.UTF8.GetString(request)));
    text.CopyTo(reply.Reserve(text.Length));
});
Console.WriteLine($"serving {server.Address}");
while (Console.Read() >= 0)
{
}

/// <summary>So many steps of 20 ms on the thread pool.</summary>
internal sealed class Job
{
    private readonly int _steps;
    private volatile int _done;
    private volatile bool _cancelled;

    public Job(int steps)
    {
        _steps = steps;
        _ = Task.Run(async () =>
        {
            for (; _done < _steps && !_cancelled; _done++)
                await Task.Delay(20);
        });
    }

    public void Cancel() => _cancelled = true;

    public override string ToString() => $"{_done}/{_steps}{(_cancelled ? " cancelled" : "")}";
}
