using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;
using static Ipc.Win32Mailslots;

namespace Ipc;

/// <summary>The reading end of a mailslot, which this process makes and which goes with it. One thread at a time.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class Slot : IDisposable
{
    /// <summary>Waits are cut into slices, between which closing and the peer's death are looked for.</summary>
    public const int SliceMilliseconds = 50;
    /// <summary>What Receive returns when nothing came, and when it was interrupted.</summary>
    public const int TimedOut = -1, Interrupted = -2;

    private readonly SafeFileHandle _slot;
    private readonly ManualResetEvent _event = new(false);
    private int _patience = SliceMilliseconds;

    /// <summary>Makes it. <paramref name="error"/> is the system's, 0 for success. It refuses messages longer than <paramref name="most"/>.</summary>
    public Slot(string name, int most, out int error)
    {
        var security = OnlyThisUser.Instance.Attributes;
        _slot = CreateMailslotW(name, (uint)most, SliceMilliseconds, &security);
        error = _slot.IsInvalid ? Marshal.GetLastPInvokeError() : 0;
    }

    /// <summary>The next message's length; TimedOut after <paramref name="patience"/> milliseconds, at most a slice. The room is longer
    /// than the longest message, so that on a system that does not refuse longer ones they show.</summary>
    public int Receive(Span<byte> room, int patience, ManualResetEvent interrupt)
    {
        if (patience != _patience && SetMailslotInfo(_slot, (uint)patience) == 0)
            throw Failure("cannot set how long a mailslot waits", Marshal.GetLastPInvokeError());
        _patience = patience;
        // Wine carries a read out at once, within the slot's own time-out; Windows leaves it pending, so that it can be interrupted.
        var operation = new NativeOverlapped { EventHandle = _event.SafeWaitHandle.DangerousGetHandle() };
        uint count = 0;
        int error;
        fixed (byte* p = room)
        {
            error = ReadFile(_slot, p, (uint)room.Length, &count, &operation) != 0 ? 0 : Marshal.GetLastPInvokeError();
            if (error == ERROR_IO_PENDING)
            {
                var handles = stackalloc nint[] { operation.EventHandle, interrupt.SafeWaitHandle.DangerousGetHandle() };
                if (Win32.WaitForMultipleObjects(2, handles, 0, INFINITE) != WAIT_OBJECT_0)
                    _ = CancelIoEx(_slot, &operation);
                // What had come before it was cancelled is not lost, and `room` stays until the system has done with it.
                error = GetOverlappedResult(_slot, &operation, &count, 1) != 0 ? 0 : Marshal.GetLastPInvokeError();
            }
        }
        return error switch
        {
            0 => (int)count,
            ERROR_SEM_TIMEOUT => TimedOut,
            ERROR_OPERATION_ABORTED => Interrupted,
            ERROR_BROKEN_PIPE => 0, // an empty message, on Wine
            _ => throw Failure("cannot read from a mailslot", error),
        };
    }

    public void Dispose()
    {
        _slot.Dispose();
        _event.Dispose();
    }

    public static IpcException Failure(string what, int error) => new(IpcStatus.System, $"{what}: {Win32.ErrorText(error)}");
}

/// <summary>The writing end of another process's mailslot. One thread at a time.</summary>
[SupportedOSPlatform("windows")]
internal sealed unsafe class SlotWriter : IDisposable
{
    private readonly ManualResetEvent _event = new(false);

    /// <summary>Opens it. <paramref name="error"/> is the system's, 0 for success.</summary>
    public SlotWriter(string name, out int error)
    {
        Handle = CreateFileW(name, GENERIC_WRITE | READ_CONTROL, FILE_SHARE_READ | FILE_SHARE_WRITE, 0, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, 0);
        error = Handle.IsInvalid ? Marshal.GetLastPInvokeError() : 0;
    }

    public SafeFileHandle Handle { get; }

    /// <summary>Writes one message. <see cref="IpcStatus.TimedOut"/> when there was no room for a slice (Windows has always room, Wine has
    /// not) and nothing was written; <see cref="IpcStatus.PeerClosed"/> when the slot has gone.</summary>
    public IpcStatus Send(ReadOnlySpan<byte> message)
    {
        var operation = new NativeOverlapped { EventHandle = _event.SafeWaitHandle.DangerousGetHandle() };
        uint count = 0;
        int error;
        fixed (byte* p = message)
        {
            error = WriteFile(Handle, p, (uint)message.Length, &count, &operation) != 0 ? 0 : Marshal.GetLastPInvokeError();
            if (error == ERROR_IO_PENDING)
            {
                if (WaitForSingleObject(operation.EventHandle, Slot.SliceMilliseconds) != WAIT_OBJECT_0)
                    _ = CancelIoEx(Handle, &operation);
                error = GetOverlappedResult(Handle, &operation, &count, 1) != 0 ? 0 : Marshal.GetLastPInvokeError();
                if (error == ERROR_OPERATION_ABORTED)
                    return IpcStatus.TimedOut;
            }
        }
        return error switch
        {
            0 when count == message.Length => IpcStatus.Ok,
            ERROR_NO_SYSTEM_RESOURCES or ERROR_NOT_ENOUGH_QUOTA or ERROR_NOT_ENOUGH_MEMORY =>
                throw new IpcException(IpcStatus.OutOfMemory, $"the system has no memory for a message in a mailslot: {Win32.ErrorText(error)}"),
            // Whatever else it says, there is one reason for a slot not to take a message of the length it was made for.
            _ => IpcStatus.PeerClosed,
        };
    }

    public void Dispose()
    {
        Handle.Dispose();
        _event.Dispose();
    }
}
