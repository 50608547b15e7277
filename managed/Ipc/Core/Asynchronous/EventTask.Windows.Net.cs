using System.Runtime.Versioning;

namespace Ipc;

/// <summary>Awaiting events of the system's, as listeners do: now and then, so that it may allocate.</summary>
[SupportedOSPlatform("windows")]
internal static class EventTask
{
    /// <summary>Ends when one of the events is set, which the caller keeps open until then, or throws when the token is cancelled.</summary>
    public static async Task WhenAny(Win32Handle[] events, CancellationToken cancellationToken)
    {
        var came = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var waits = Array.ConvertAll(events, one => new EventWait(one, static source => ((TaskCompletionSource)source!).TrySetResult(), came, once: true));
        try
        {
            await came.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Array.ForEach(waits, wait => wait.Dispose());
        }
    }
}
