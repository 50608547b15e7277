namespace Ipc.Tests;

/// <summary>Attempts to connect that nobody waits for any more.</summary>
public sealed class ConnectingTests
{
    [Fact]
    public async Task WhatFailsAfterItWasCancelledIsNobodysToLog()
    {
        var text = $"nobody listens at {Guid.NewGuid()}";
        var isLogged = false;
        void Log(object? sender, UnobservedTaskExceptionEventArgs e) => isLogged |= e.Exception.ToString().Contains(text, StringComparison.Ordinal);
        TaskScheduler.UnobservedTaskException += Log;
        try
        {
            await AbandonAsync(text);
            for (var look = 0; look < 20 && !isLogged; look++)
            {
                await Task.Delay(10);
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Assert.False(isLogged);
        }
        finally
        {
            TaskScheduler.UnobservedTaskException -= Log;
        }
    }

    private static async Task AbandonAsync(string text)
    {
        var goesOn = new TaskCompletionSource();
        using var cancellation = new CancellationTokenSource();
        var connecting = Connecting.Begin(Fail, "unix://nobody", cancellation.Token).AsTask();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting);
        goesOn.SetResult();

        IpcChannel Fail(string address, int timeoutMilliseconds)
        {
            goesOn.Task.Wait();
            throw new IpcException(IpcStatus.NoServer, text);
        }
    }
}
