namespace Ipc;

internal sealed unsafe partial class PipeStream
{
    /// <summary>What sends while no thread waits for it, once there is a readiness.</summary>
    public SendAhead? SendAhead { get; private set; }

    protected override Readiness MakeSending() => SendAhead = new SendAhead(this, mode == PipeMode.Message ? int.MaxValue : LargestFragment);

    /// <summary>Begins to send. 0 or ERROR_IO_PENDING, or why it failed.</summary>
    public int BeginSend(byte* bytes, int length, NativeOverlapped* operation)
    {
        if (!pipe.TryAddRef())
            return Win32.ERROR_PIPE_NOT_CONNECTED; // closed here
        var error = Win32.WriteFile(pipe, bytes, (uint)length, null, operation) != 0 ? 0 : Win32.LastError;
        pipe.DangerousRelease();
        return error;
    }

    /// <summary>What has become of a send that is over, or failed to begin with this error: a number of bytes, or less than one when nobody reads any
    /// more.</summary>
    public int ResultOfSend(NativeOverlapped* operation, int error)
    {
        if (error != 0)
            return Failed(error, Sending);
        if (!pipe.TryAddRef())
            return Ended; // closed here
        try
        {
            return ResultOf(operation, Sending);
        }
        finally
        {
            pipe.DangerousRelease();
        }
    }

    /// <summary>Cancels a send, if it is under way. Any thread.</summary>
    public void CancelSend(NativeOverlapped* operation) => Cancel(operation);

    partial void CancelSendAhead() => SendAhead?.Cancel();

    partial void EndSendAhead() => SendAhead?.Dispose();
}
