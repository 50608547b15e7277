namespace Ipc;

internal sealed partial class LocalPipeListener
{
    /// <summary>As <see cref="Accept"/>, while no thread waits.</summary>
    public async ValueTask<Win32Handle> AcceptAsync(CancellationToken cancellationToken)
    {
        Enter();
        try
        {
            while (true)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (TakeOwnClient() is { } client)
                    return client;
                await EventTask.WhenAny([_closing, .. Array.ConvertAll(_waiting, waiting => waiting.Event)], cancellationToken).ConfigureAwait(false);
            }
        }
        finally
        {
            Leave();
        }
    }
}
