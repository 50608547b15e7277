using System.Runtime.Versioning;

namespace Ipc;

/// <summary>One thread of the process that begins what <see cref="SendAhead"/> sends, and lasts: the system gives up what a thread began when that thread
/// ends, and does not tell how much of it the peer has read.</summary>
[SupportedOSPlatform("windows")]
internal static class PipeWriteThread
{
    private static readonly Queue<SendAhead> s_queue = new(); // guarded by itself
    private static bool s_isRunning;

    public static void Begin(SendAhead send)
    {
        lock (s_queue)
        {
            s_queue.Enqueue(send);
            Monitor.Pulse(s_queue);
            if (s_isRunning)
                return;
            new Thread(Run) { IsBackground = true, Name = "ipc pipe writes" }.UnsafeStart();
            s_isRunning = true;
        }
    }

    private static void Run()
    {
        while (true)
            Next().Begin();
    }

    private static SendAhead Next()
    {
        lock (s_queue)
        {
            while (s_queue.Count == 0)
                Monitor.Wait(s_queue);
            return s_queue.Dequeue();
        }
    }
}
